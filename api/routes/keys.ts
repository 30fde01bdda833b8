import type { AuditStore } from '../../db/audit.ts';
import type { KeyStore } from '../../db/keys.ts';
import type { RateLimitPolicy } from '../../db/rate-limits.ts';
import type { AppRouter } from '../app-context.ts';
import { createRouter } from '../create-router.ts';
import type { NoteAction } from '../audit-trail.ts';
import { keyNotFound } from '../errors.ts';
import { readJsonBody } from '../json-body.ts';
import { createKeySchema, pageQuerySchema } from '../key-schemas.ts';
import type { Authenticate } from '../middleware/authentication.ts';
import type { EnforceRateLimit } from '../middleware/rate-limit.ts';
import { pageOf } from '../page-of.ts';
import { presentAuditEntry, presentKey } from '../presenters/administration.ts';

export interface KeyRouteDeps {
  authenticate: Authenticate;
  enforceRateLimit: EnforceRateLimit;
  keys: Pick<KeyStore, 'create' | 'find' | 'list' | 'revoke'>;
  audit: Pick<AuditStore, 'list'>;
  note: NoteAction;
}

const largestBody = 4_096;
const createPolicy: RateLimitPolicy = { name: 'key', limit: 100, windowSeconds: 3_600 };

/** API keys of the organization, and the trail of what was administered. */
export function createKeysRouter({ authenticate, enforceRateLimit, keys, audit, note }: KeyRouteDeps): AppRouter {
  const router = createRouter();

  router.get('/v1/keys', async (ctx) => {
    const { organizationId } = await authenticate(ctx.req, 'admin');
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { keys: (await keys.list(organizationId)).map(presentKey) };
  });

  router.post('/v1/keys', async (ctx) => {
    const actor = await authenticate(ctx.req, 'admin');
    const body = createKeySchema.parse(await readJsonBody(ctx.req, { maxBytes: largestBody }));
    await enforceRateLimit(ctx, [{ key: `key:${actor.organizationId}`, policy: createPolicy }]);
    const { kind, name, expiresInDays } = body;
    const { key, row } = await keys.create({
      organizationId: actor.organizationId,
      kind,
      name,
      expiresAt: expiresInDays === undefined ? undefined : new Date(Date.now() + expiresInDays * 86_400_000),
    });
    await note(actor, { action: 'key.create', subject: row.id, details: { kind } });
    ctx.status = 201;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { ...presentKey(row), key };
  });

  router.delete('/v1/keys/:id', async (ctx) => {
    const actor = await authenticate(ctx.req, 'admin');
    const key = await keys.find(ctx.params['id'] ?? '');
    if (key === null || key.organizationId !== actor.organizationId) throw keyNotFound();
    await keys.revoke(key.id);
    if (key.revokedAt === null) await note(actor, { action: 'key.revoke', subject: key.id });
    ctx.status = 204;
  });

  router.get('/v1/audit', async (ctx) => {
    const { organizationId } = await authenticate(ctx.req, 'admin');
    const query = pageQuerySchema.parse({ ...ctx.query });
    const { entries, nextCursor } = await pageOf(() => audit.list(organizationId, query));
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { entries: entries.map(presentAuditEntry), nextCursor };
  });

  return router;
}
