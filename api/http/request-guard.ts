import type { AppMiddleware } from './app-context.ts';
import { invalidRequest } from './errors.ts';
import { hasSeveral } from './repeated-header.ts';

const maxPathLength = 4096;

/**
 * Creates the middleware that rejects malformed requests: a target that is not a path, malformed percent-encoding, an
 * overlong path, or HTTP/1.1 without exactly one Host header.
 */
export function createRequestGuard(): AppMiddleware {
  return (ctx, next) => {
    // a proxy may derive another path from an absolute URL or a fragment
    if (!/^\/[^#]*$/.test(ctx.req.url ?? ''))
      throw invalidRequest('The request target must be a path without a fragment.');
    if (ctx.path.length > maxPathLength) throw invalidRequest(`The path is longer than ${maxPathLength} characters.`);
    if (!isDecodable(ctx.path)) throw invalidRequest('The path contains a malformed percent-encoding.');
    if (ctx.req.httpVersion === '1.1' && ctx.req.headers.host === undefined)
      throw invalidRequest('The Host header is missing.');
    // a proxy may have used the other one
    if (hasSeveral(ctx.req, 'host')) throw invalidRequest('The Host header appears more than once.');
    return next();
  };
}

function isDecodable(path: string): boolean {
  if (!path.includes('%')) return true;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
