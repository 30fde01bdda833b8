import type { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';

/** What the middlewares leave for the routes. */
export interface AppState {
  requestId: string;
  /** The turn of a job that the request began. */
  turn?: { jobId: string; turn: number };
  /** The pattern of the path, where something else than a router has answered. */
  route?: string;
}

export type AppContext = Context & { state: AppState };
export type AppMiddleware = Middleware<AppState>;
export type AppRouter = Router<AppState>;
