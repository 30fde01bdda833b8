import { STATUS_CODES } from 'node:http';
import type { Logger } from 'pino';
import { ZodError } from 'zod';
import type { AppMiddleware } from './app-context.ts';
import { ThreadQueueError } from '../../lib/threads/thread-queue.ts';
import { ApiError, tooMuchWork } from './errors.ts';
import { problemSentence } from './problem-sentence.ts';

export interface ErrorHandlerDeps {
  log: Logger;
  /** What a client reads of an error of the stores; null: it is another one. */
  refusalOfStore: (error: unknown) => ApiError | null;
}

/** Turns what a route throws into its status and exactly `{ "error": "<sentence>" }`; logs what nobody expected, once. */
export function createErrorHandler({ log, refusalOfStore }: ErrorHandlerDeps): AppMiddleware {
  function refusalOf(error: unknown): ApiError | null {
    if (error instanceof ApiError) return error;
    if (error instanceof ZodError) return new ApiError(400, problemSentence(error));
    const ofStore = refusalOfStore(error);
    if (ofStore !== null) return ofStore;
    if (error instanceof ThreadQueueError) return tooMuchWork();
    const status = clientStatusOf(error);
    return status === null
      ? null
      : new ApiError(status, `The request was refused: ${STATUS_CODES[status] ?? 'bad request'}.`);
  }

  return async function handleErrors(ctx, next) {
    ctx.set('X-Content-Type-Options', 'nosniff');
    try {
      await next();
    } catch (error) {
      const refusal =
        refusalOf(error) ?? new ApiError(500, 'Something went wrong on our side; the request id names it in the log.');
      const fields = { requestId: ctx.state.requestId, method: ctx.method, path: ctx.path };
      if (refusal.status === 500) log.error({ ...fields, err: error }, 'request failed');
      else if (refusalOfStore(error)?.status === 503) log.warn({ ...fields, err: error }, 'request refused by a store');
      if (ctx.headerSent) return; // the status is spent; whoever writes the stream ends it
      ctx.respond = true;
      ctx.status = refusal.status;
      ctx.set(refusal.headers);
      ctx.set('Cache-Control', 'no-store');
      ctx.body = { error: refusal.message };
    }
  };
}

/** The status of an error that a library of Koa's made for the client. */
function clientStatusOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('expose' in error) || error.expose !== true) return null;
  if (!('status' in error) || typeof error.status !== 'number') return null;
  return error.status >= 400 && error.status < 500 ? error.status : null;
}
