import { randomUUID } from 'node:crypto';
import type { AppMiddleware } from './app-context.ts';

const acceptable = /^[A-Za-z0-9._-]{8,64}$/;

/** Takes over the client's X-Request-Id when it is harmless, else makes one, and sends it back. */
export function createRequestId(): AppMiddleware {
  return (ctx, next) => {
    const given = ctx.req.headers['x-request-id'];
    ctx.state.requestId = typeof given === 'string' && acceptable.test(given) ? given : sortableUuid();
    ctx.set('X-Request-Id', ctx.state.requestId);
    return next();
  };
}

/** A UUIDv7: the time in milliseconds in front, the random bits of a UUIDv4 behind. */
function sortableUuid(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
