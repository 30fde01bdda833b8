import { z } from 'zod';
import { OldSchemaError } from '../../db/check-database.ts';
import type { Admission } from '../access/request-access.ts';
import type { AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { ApiError, draining, storeUnavailable } from '../http/errors.ts';
import { mountRoutes } from '../http/mount-routes.ts';

const status = z.looseObject({ status: z.literal('ok') });

export const systemRoutes = {
  getHealth: defineRoute({
    method: 'get',
    path: '/healthz',
    summary: 'Returns ok while the process is alive.',
    key: 'none',
    responses: { 200: json('The process is alive.', status) },
  }),
  getReadiness: defineRoute({
    method: 'get',
    path: '/readyz',
    summary:
      'Returns ok while the process accepts requests: the database is reachable and migrated, and no shutdown has begun.',
    key: 'none',
    responses: { 200: json('The process accepts requests.', status) },
    errors: [503],
  }),
  getDescription: defineRoute({
    method: 'get',
    path: '/openapi.json',
    summary: 'Returns this description.',
    key: 'none',
    responses: { 200: json('OpenAPI 3.1.', z.looseObject({})) },
  }),
};

export interface SystemRouteDeps {
  admit: Admission;
  /** Throws OldSchemaError, or another error when the database is unreachable. */
  checkDatabase: () => Promise<void>;
  isDraining: () => boolean;
  /** Builds the description once, at the first request. */
  openApi: () => Record<string, unknown>;
}

export function createSystemRouter({ admit, checkDatabase, isDraining, openApi }: SystemRouteDeps): AppRouter {
  let description: string | null = null;
  return mountRoutes(admit, systemRoutes, {
    getHealth: () => ({ status: 'ok' as const }),

    async getReadiness() {
      if (isDraining()) throw draining();
      try {
        await checkDatabase();
      } catch (error) {
        throw error instanceof OldSchemaError ? new ApiError(503, error.message) : storeUnavailable();
      }
      return { status: 'ok' as const };
    },

    getDescription({ ctx }) {
      ctx.type = 'application/json';
      ctx.body = description ??= JSON.stringify(openApi());
    },
  });
}
