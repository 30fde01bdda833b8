import { z } from 'zod';
import type { OperationsStore } from '../../db/operations/operations.ts';
import type { UsageStore } from '../../db/organizations/usage.ts';
import type { OperatorView } from '../../db/operations/operator-view.ts';
import type { Admission } from '../access/request-access.ts';
import type { AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import type { Metrics } from '../http/metrics.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { operationsQuerySchema, operationsSchema } from './operations-schemas.ts';
import { bucketSecondsOf, presentOperations, presentUsage } from './present-operations.ts';
import { usageQuerySchema, usageSchema } from './usage-schemas.ts';

/** Routes for an organization's figures as JSON and those of the whole service for Prometheus. */
export const operationsRoutes = {
  getOperations: defineRoute({
    method: 'get',
    path: '/v1/operations',
    summary: 'Returns the activity of the organization in the last hours and its current queue.',
    query: operationsQuerySchema,
    responses: { 200: json('Figures and series.', operationsSchema) },
  }),
  getUsage: defineRoute({
    method: 'get',
    path: '/v1/usage',
    summary: 'Returns the daily usage of keys and projects with their limits.',
    query: usageQuerySchema,
    responses: { 200: json('Usage by day (UTC), today last.', usageSchema) },
  }),
  getMetrics: defineRoute({
    method: 'get',
    path: '/metrics',
    summary: 'Returns metrics of this process and of the whole service in the Prometheus format.',
    key: 'none',
    responses: { 200: { description: 'The metrics.', content: { 'text/plain': z.string() } } },
  }),
};

export interface OperationsRouteDeps {
  admit: Admission;
  operations: OperationsStore;
  operatorView: Pick<OperatorView, 'workers'>;
  metrics: Pick<Metrics, 'text' | 'contentType'>;
  usage: Pick<UsageStore, 'read'>;
  limits: { assistantPerHour: number; dayMicros: number | null };
}

const workersWithinMinutes = 10;

export function createOperationsRouter(deps: OperationsRouteDeps): AppRouter {
  const { admit, operations, operatorView, metrics, usage, limits } = deps;

  return mountRoutes(admit, operationsRoutes, {
    async getOperations({ caller, query: { hours } }) {
      const bucketSeconds = bucketSecondsOf(hours);
      const read = await operations.read(caller, { hours, bucketSeconds });
      const workers = await operatorView.workers(caller, { withinMinutes: workersWithinMinutes });
      return presentOperations(read, { bucketSeconds, workers });
    },

    async getUsage({ caller, query: { days } }) {
      return presentUsage(await usage.read(caller, { days }), limits);
    },

    async getMetrics({ ctx }) {
      const text = await metrics.text();
      ctx.set('Content-Type', metrics.contentType);
      ctx.body = text;
    },
  });
}
