import type { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { OpenAnswer } from './streams/open-answers.ts';

/** State shared by the middlewares and routes of a request. */
export interface AppState {
  requestId: string;
  /** Turn of a job that the request started. */
  turn?: { jobId: string; turn: number };
  /** Path pattern, set when a middleware other than a router answered. */
  route?: string;
  /** The response, once it is tracked. */
  answer?: OpenAnswer;
}

export type AppContext = Context & { state: AppState };
export type AppMiddleware = Middleware<AppState>;
export type AppRouter = Router<AppState>;
