import { randomUUIDv7 } from 'node:crypto';
import type { AppMiddleware } from './app-context.ts';

const acceptable = /^[A-Za-z0-9._-]{8,64}$/;

/** Creates the middleware that echoes the client's X-Request-Id if it is acceptable, or else generates one. */
export function createRequestId(): AppMiddleware {
  return (ctx, next) => {
    const given = ctx.req.headers['x-request-id'];
    ctx.state.requestId = typeof given === 'string' && acceptable.test(given) ? given : randomUUIDv7();
    ctx.res.setHeader('X-Request-Id', ctx.state.requestId);
    return next();
  };
}
