import cors from '@koa/cors';
import type { AppMiddleware } from './app-context.ts';

const browserEndpoints =
  /^\/widget\.js$|^\/mcp\/[^/]+$|^\/discovery\/v[12]\/assistant\/[^/]+\/(?:message(?:\/[^/]+\/stream)?|feedback)$|^\/discovery\/v1\/(?:challenge$|(?:search|suggest|page)\/[^/]+$|docs\/)/;

/** Creates the CORS middleware for the endpoints that browsers call, errors included. Others get no CORS headers. */
export function createCors(): AppMiddleware {
  const allow = cors({
    origin: '*',
    allowMethods: 'GET,POST,DELETE,OPTIONS',
    allowHeaders:
      'authorization,content-type,user-agent,x-resume-token,x-reader-token,x-proof-of-work,mcp-protocol-version',
    exposeHeaders: 'Link,X-Thread-Id,X-Resume-Token,Retry-After,RateLimit,RateLimit-Policy',
    maxAge: 7200,
  });
  return (ctx, next) => (browserEndpoints.test(ctx.path) ? allow(ctx, next) : next());
}
