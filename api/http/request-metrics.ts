import { performance } from 'node:perf_hooks';
import type { AppMiddleware } from './app-context.ts';
import type { Metrics } from './metrics.ts';
import { routeOf } from './route-of.ts';

/** Creates the middleware that counts each response by method, path pattern and status when it closes. */
export function createRequestMetrics({ metrics }: { metrics: Pick<Metrics, 'observeRequest'> }): AppMiddleware {
  return (ctx, next) => {
    const startedAt = performance.now();
    ctx.res.once('close', () => {
      metrics.observeRequest({
        method: methods.has(ctx.method) ? ctx.method : 'other',
        route: routeOf(ctx),
        status: ctx.res.statusCode,
        seconds: (performance.now() - startedAt) / 1000,
      });
    });
    return next();
  };
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']);
