import { Router } from '@koa/router';
import type { OperationsStore } from '../../db/operations.ts';
import type { WorkerStore } from '../../db/workers.ts';
import type { AppRouter, AppState } from '../app-context.ts';
import type { Metrics } from '../metrics.ts';
import type { Authenticate } from '../middleware/authentication.ts';
import { operationsQuerySchema } from '../operations-schemas.ts';
import { bucketSecondsOf, presentOperations } from '../presenters/operations.ts';

export interface OperationsRouteDeps {
  authenticate: Authenticate;
  operations: OperationsStore;
  workers: Pick<WorkerStore, 'list'>;
  metrics: Pick<Metrics, 'text' | 'contentType'>;
}

const workersWithinMinutes = 10;

/** Figures for whoever runs the service: of an organization as JSON, of the whole service for Prometheus. */
export function createOperationsRouter({ authenticate, operations, workers, metrics }: OperationsRouteDeps): AppRouter {
  const router = new Router<AppState>();

  router.get('/v1/operations', async (ctx) => {
    const { organizationId } = await authenticate(ctx.req, 'admin');
    const { hours } = operationsQuerySchema.parse({ ...ctx.query });
    const bucketSeconds = bucketSecondsOf(hours);
    const [read, present] = await Promise.all([
      operations.read({ organizationId, hours, bucketSeconds }),
      workers.list({ withinMinutes: workersWithinMinutes }),
    ]);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = presentOperations(read, { bucketSeconds, workers: present });
  });

  router.get('/metrics', async (ctx) => {
    const text = await metrics.text();
    ctx.set('Content-Type', metrics.contentType);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = text;
  });

  return router;
}
