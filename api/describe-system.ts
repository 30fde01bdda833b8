import { errorResponses, jsonResponse } from './openapi.ts';
import type { PathItem } from './openapi.ts';

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
