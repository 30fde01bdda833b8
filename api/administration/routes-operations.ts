import type { OperationsStore } from '../../db/operations/operations.ts';
import type { UsageStore } from '../../db/organizations/usage.ts';
import type { OperatorView } from '../../db/operations/operator-view.ts';
import type { AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Authenticate } from '../access/authentication.ts';
import { operationsQuerySchema } from './operations-schemas.ts';
import { bucketSecondsOf, presentOperations } from './present-operations.ts';
import { presentUsage } from './present-usage.ts';
import { usageQuerySchema } from './usage-schemas.ts';

export interface OperationsRouteDeps {
  authenticate: Authenticate;
  operations: OperationsStore;
  operatorView: Pick<OperatorView, 'workers'>;
  metrics: Pick<Metrics, 'text' | 'contentType'>;
  usage: Pick<UsageStore, 'read'>;
  limits: { assistantPerHour: number; dayMicros: number | null };
}

const workersWithinMinutes = 10;

/** Figures for whoever runs the service: of an organization as JSON, of the whole service for Prometheus. */
export function createOperationsRouter(deps: OperationsRouteDeps): AppRouter {
  const { authenticate, operations, operatorView, metrics, usage, limits } = deps;
  const router = createRouter();

  router.get('/v1/operations', async (ctx) => {
    const caller = await authenticate(ctx.req, 'admin');
    const { hours } = operationsQuerySchema.parse({ ...ctx.query });
    const bucketSeconds = bucketSecondsOf(hours);
    const read = await operations.read(caller, { hours, bucketSeconds });
    const present = await operatorView.workers(caller, { withinMinutes: workersWithinMinutes });
    ctx.set('Cache-Control', 'no-store');
    ctx.body = presentOperations(read, { bucketSeconds, workers: present });
  });

  router.get('/v1/usage', async (ctx) => {
    const caller = await authenticate(ctx.req, 'admin');
    const { days } = usageQuerySchema.parse({ ...ctx.query });
    const read = await usage.read(caller, { days });
    ctx.set('Cache-Control', 'no-store');
    ctx.body = presentUsage(read, limits);
  });

  router.get('/metrics', async (ctx) => {
    const text = await metrics.text();
    ctx.set('Content-Type', metrics.contentType);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = text;
  });

  return router;
}
