import type { AppContext, AppMiddleware } from './app-context.ts';

/** Is called when a request arrives. Returns the function that is called when its response has closed. */
export type RequestWatch = (ctx: AppContext) => () => void;

/** Creates the middleware that runs the watches. Together they cost a request one layer and one listener. */
export function createRequestWatch(watches: RequestWatch[]): AppMiddleware {
  return (ctx, next) => {
    const ends = watches.map((begin) => begin(ctx));
    ctx.res.once('close', () => {
      for (const end of ends) end();
    });
    return next();
  };
}
