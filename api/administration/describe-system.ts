import { security } from '../jobs/describe-jobs.ts';
import { errorResponses, jsonResponse, queryParameter, schemaOf } from '../openapi/openapi.ts';
import { operationsSchema } from './operations-schemas.ts';
import { usageSchema } from './usage-schemas.ts';
import type { PathItem } from '../openapi/openapi.ts';

const status = { type: 'object', properties: { status: { const: 'ok' } }, required: ['status'] };

/** OpenAPI paths of the process itself. */
export function describeSystem(): Record<string, PathItem> {
  return {
    '/healthz': {
      get: {
        operationId: 'getHealth',
        summary: 'Whether the process is alive',
        security: [],
        responses: { 200: jsonResponse('It is.', status) },
      },
    },
    '/readyz': {
      get: {
        operationId: 'getReadiness',
        summary: 'Whether the process takes requests: the database is reachable and it is not shutting down',
        security: [],
        responses: { 200: jsonResponse('It does.', status), ...errorResponses(503) },
      },
    },
    '/metrics': {
      get: {
        operationId: 'getMetrics',
        summary: "Figures of this process and of the whole service in Prometheus' format",
        security: [],
        responses: { 200: { description: 'The figures.', content: { 'text/plain': { schema: { type: 'string' } } } } },
      },
    },
    '/v1/operations': {
      get: {
        operationId: 'getOperations',
        summary: 'What happened in the organization in the last hours, and what waits now',
        security,
        parameters: [queryParameter('hours', { type: 'integer', minimum: 1, maximum: 2160, default: 24 })],
        responses: {
          200: jsonResponse('Figures and series.', schemaOf(operationsSchema)),
          ...errorResponses(400, 401, 403, 429, 503),
        },
      },
    },
    '/v1/usage': {
      get: {
        operationId: 'getUsage',
        summary: 'What keys and projects have used on each of the last days, beside their limits',
        security,
        parameters: [queryParameter('days', { type: 'integer', minimum: 1, maximum: 90, default: 30 })],
        responses: {
          200: jsonResponse('Use by day (UTC), today last.', schemaOf(usageSchema)),
          ...errorResponses(400, 401, 403, 429, 503),
        },
      },
    },
    '/openapi.json': {
      get: {
        operationId: 'getDescription',
        summary: 'This description',
        security: [],
        responses: { 200: jsonResponse('OpenAPI 3.1.', { type: 'object' }) },
      },
    },
  };
}
