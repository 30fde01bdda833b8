import type { AuditStore } from '../../db/organizations/audit.ts';
import type { KeyStore } from '../../db/organizations/keys.ts';
import type { RateLimitPolicy } from '../../db/operations/rate-limits.ts';
import type { AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import { keyNotFound } from '../http/errors.ts';
import { readJsonBody } from '../http/json-body.ts';
import { createKeySchema } from './key-schemas.ts';
import { listQuerySchema, pageQuerySchema } from '../http/page-schemas.ts';
import type { Authenticate } from '../access/authentication.ts';
import type { EnforceRateLimit } from '../access/rate-limit.ts';
import { pageOf } from '../http/page-of.ts';
import { presentAuditEntry, presentKey } from './present-administration.ts';

export interface KeyRouteDeps {
  authenticate: Authenticate;
  enforceRateLimit: EnforceRateLimit;
  keys: KeyStore;
  audit: AuditStore;
}

const largestBody = 4_096;
const createPolicy: RateLimitPolicy = { name: 'key', limit: 100, windowSeconds: 3_600 };

/** API keys of the organization, and the log of what was changed. */
export function createKeysRouter({ authenticate, enforceRateLimit, keys, audit }: KeyRouteDeps): AppRouter {
  const router = createRouter();

  router.get('/v1/keys', async (ctx) => {
    const caller = await authenticate(ctx.req, 'admin');
    ctx.set('Cache-Control', 'no-store');
    const query = listQuerySchema.parse({ ...ctx.query });
    const { rows, nextCursor } = await pageOf(() => keys.list(caller, query));
    ctx.body = { keys: rows.map(presentKey), nextCursor };
  });

  router.post('/v1/keys', async (ctx) => {
    const caller = await authenticate(ctx.req, 'admin');
    const body = createKeySchema.parse(await readJsonBody(ctx.req, { maxBytes: largestBody }));
    await enforceRateLimit(ctx, [{ key: `key:${caller.organizationId}`, policy: createPolicy }]);
    const { kind, name, expiresInDays } = body;
    const { key, row } = await keys.create(caller, {
      kind,
      name,
      expiresAt: expiresInDays === undefined ? undefined : new Date(Date.now() + expiresInDays * 86_400_000),
    });
    ctx.status = 201;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { ...presentKey(row), key };
  });

  router.delete('/v1/keys/:id', async (ctx) => {
    const caller = await authenticate(ctx.req, 'admin');
    if (!(await keys.revoke(caller, ctx.params['id'] ?? ''))) throw keyNotFound();
    ctx.status = 204;
  });

  router.get('/v1/audit', async (ctx) => {
    const caller = await authenticate(ctx.req, 'admin');
    const query = pageQuerySchema.parse({ ...ctx.query });
    const { entries, nextCursor } = await pageOf(() => audit.list(caller, query));
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { entries: entries.map(presentAuditEntry), nextCursor };
  });

  return router;
}
