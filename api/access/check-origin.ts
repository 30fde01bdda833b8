import { isOneOfOrigins } from '../../lib/inputs/origin.ts';
import type { AppContext } from '../http/app-context.ts';
import { foreignOrigin, noOrigin } from '../http/errors.ts';
import type { ApiCaller } from './api-caller.ts';

/**
 * Throws 403 when a key that has allowed origins is used from elsewhere. Otherwise names the origin in the CORS headers
 * of the response. The refusal may be read by any page, so that its author sees why.
 */
export function checkOrigin(ctx: AppContext, { rules }: Pick<ApiCaller, 'rules'>): void {
  if (rules === undefined || rules.allowedOrigins.length === 0) return;
  const { origin } = ctx.req.headers;
  if (origin === undefined) {
    if (!rules.allowsNoOrigin) throw noOrigin();
    return;
  }
  if (!isOneOfOrigins(origin, rules.allowedOrigins)) throw foreignOrigin();
  ctx.set('Access-Control-Allow-Origin', origin);
  ctx.vary('Origin');
}
