import { randomUUID } from 'node:crypto';
import type { AppMiddleware } from './app-context.ts';

const acceptable = /^[A-Za-z0-9._-]{8,64}$/;

/** Creates the middleware that echoes the client's X-Request-Id if it is acceptable, or else generates one. */
export function createRequestId(): AppMiddleware {
  return (ctx, next) => {
    const given = ctx.req.headers['x-request-id'];
    ctx.state.requestId = typeof given === 'string' && acceptable.test(given) ? given : sortableUuid();
    ctx.res.setHeader('X-Request-Id', ctx.state.requestId);
    return next();
  };
}

/** Returns a UUIDv7: the time in milliseconds followed by the random bits of a UUIDv4. */
function sortableUuid(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
