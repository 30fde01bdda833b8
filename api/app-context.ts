import type { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';

/** What the middlewares leave for the routes. */
export interface AppState {
  requestId: string;
}

export type AppContext = Context & { state: AppState };
export type AppMiddleware = Middleware<AppState>;
export type AppRouter = Router<AppState>;
