import type { AppMiddleware } from './app-context.ts';
import { invalidRequest } from './errors.ts';
import { hasSeveral } from './repeated-header.ts';

const longestPath = 4096;

/** Refuses requests that no route could read: a target that is no path, malformed percent-encoding, an endless path, HTTP/1.1 without exactly one host. */
export function createRequestGuard(): AppMiddleware {
  return (ctx, next) => {
    // a proxy in front may read another path out of a whole address or a fragment
    if (!/^\/[^#]*$/.test(ctx.req.url ?? ''))
      throw invalidRequest('The request target must be a path without a fragment.');
    if (ctx.path.length > longestPath) throw invalidRequest(`The path is longer than ${longestPath} characters.`);
    if (!isDecodable(ctx.path)) throw invalidRequest('The path holds a malformed percent-encoding.');
    if (ctx.req.httpVersion === '1.1' && ctx.req.headers.host === undefined)
      throw invalidRequest('The Host header is missing.');
    // a proxy in front may have looked at the other one
    if (hasSeveral(ctx.req, 'host')) throw invalidRequest('The Host header appears more than once.');
    return next();
  };
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
