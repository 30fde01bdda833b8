import { performance } from 'node:perf_hooks';
import type { Metrics } from './metrics.ts';
import type { RequestWatch } from './request-watch.ts';
import { routeOf } from './route-of.ts';

/** Creates the watch that counts each response by method, path pattern and status when it closes. */
export function createRequestMetrics({ metrics }: { metrics: Pick<Metrics, 'observeRequest'> }): RequestWatch {
  return (ctx) => {
    const startedAt = performance.now();
    return () => {
      metrics.observeRequest({
        method: methods.has(ctx.method) ? ctx.method : 'other',
        route: routeOf(ctx),
        status: ctx.res.statusCode,
        seconds: (performance.now() - startedAt) / 1000,
      });
    };
  };
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']);
