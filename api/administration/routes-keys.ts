import { z } from 'zod';
import type { AuditStore } from '../../db/organizations/audit.ts';
import { captchaSecretOwner, type KeyStore } from '../../db/organizations/keys.ts';
import type { RateLimitPolicy } from '../../db/operations/rate-limits.ts';
import type { SecretBox } from '../../lib/encryption/secret-box.ts';
import type { Admission } from '../access/request-access.ts';
import type { EnforceRateLimit } from '../access/rate-limit.ts';
import type { AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { lastAdminKey, ownRole } from '../access/errors.ts';
import { keyNotFound } from '../http/errors.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { pageOf } from '../http/page-of.ts';
import { listQuerySchema } from '../http/page-schemas.ts';
import {
  auditPageSchema,
  auditQuerySchema,
  changeKeySchema,
  createdKeySchema,
  createKeySchema,
  keyListSchema,
  keySchema,
} from './key-schemas.ts';
import { presentAuditEntry, presentKey } from './present-administration.ts';

const createPolicy: RateLimitPolicy = { name: 'key', limit: 100, windowSeconds: 3_600 };

const id = z.string().meta({ description: 'The id of the key, 12 characters.' });

/** Routes for the organization's API keys and audit log. */
export const keyRoutes = {
  listKeys: defineRoute({
    method: 'get',
    path: '/v1/keys',
    summary: 'Lists the API keys of the organization without their secrets.',
    role: 'admin',
    query: listQuerySchema,
    responses: { 200: json('A page of keys, oldest first.', keyListSchema) },
  }),
  createKey: defineRoute({
    method: 'post',
    path: '/v1/keys',
    summary: `Creates an API key, at most ${createPolicy.limit} per hour.`,
    body: createKeySchema,
    example: { kind: 'admin', name: 'CI', role: 'member', expiresInDays: 90 },
    responses: { 201: json('The key, which is shown only once.', createdKeySchema) },
    errors: [404, 409],
  }),
  changeKey: defineRoute({
    method: 'patch',
    path: '/v1/keys/{id}',
    summary:
      'Changes where an assistant key may be used, or the role of an admin key. It takes effect within 5 seconds.',
    params: { id },
    body: changeKeySchema,
    responses: { 200: json('The key without its secret.', keySchema) },
    errors: [409],
  }),
  revokeKey: defineRoute({
    method: 'delete',
    path: '/v1/keys/{id}',
    summary: 'Revokes an API key. It stops working within 5 seconds.',
    params: { id },
    responses: { 204: { description: 'The key is revoked.' } },
    errors: [409],
  }),
  listAuditEntries: defineRoute({
    method: 'get',
    path: '/v1/audit',
    summary: "Lists the audit log, newest first: changes over HTTP and by the operator's command line.",
    description: 'With filters, a page may have fewer entries than its limit, or none, and still have a nextCursor.',
    role: 'admin',
    query: auditQuerySchema,
    responses: { 200: json('A page of entries.', auditPageSchema) },
  }),
};

export interface KeyRouteDeps {
  admit: Admission;
  enforceRateLimit: EnforceRateLimit;
  keys: KeyStore;
  audit: AuditStore;
  box: Pick<SecretBox, 'seal'>;
}

export function createKeysRouter({ admit, enforceRateLimit, keys, audit, box }: KeyRouteDeps): AppRouter {
  return mountRoutes(admit, keyRoutes, {
    async listKeys({ caller, query }) {
      const { rows, nextCursor } = await pageOf(() => keys.list(caller, query));
      return { keys: rows.map(presentKey), nextCursor };
    },

    async createKey({ ctx, caller, body }) {
      const given = await body();
      await enforceRateLimit(ctx, [{ key: `key:${caller.organizationId}`, policy: createPolicy }]);
      const { key, row } = await keys.create(caller, given);
      return { ...presentKey(row), key };
    },

    async changeKey({ caller, params, body }) {
      const { captcha, ...rules } = await body();
      if (rules.role !== undefined && params.id === caller.keyId) throw ownRole();
      const changed = await keys.update(caller, params.id, {
        ...rules,
        ...(captcha !== undefined && {
          captcha: captcha?.provider ?? null,
          captchaSecret: captcha === null ? null : box.seal(captcha.secret, captchaSecretOwner(params.id)),
        }),
      });
      if (changed === null) throw keyNotFound();
      if (changed === 'last-admin') throw lastAdminKey();
      return presentKey(changed);
    },

    async revokeKey({ caller, params }) {
      const revoked = await keys.revoke(caller, params.id);
      if (revoked === null) throw keyNotFound();
      if (revoked === 'last-admin') throw lastAdminKey();
    },

    async listAuditEntries({ caller, query }) {
      const { entries, nextCursor } = await pageOf(() => audit.list(caller, query));
      return { entries: entries.map(presentAuditEntry), nextCursor };
    },
  });
}
