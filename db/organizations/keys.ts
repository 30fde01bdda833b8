import type { Pool, PoolClient } from 'pg';
import { writeAudit } from './audit.ts';
import type { Caller, Owner } from '../caller.ts';
import { canBeId } from '../ids.ts';
import { createKeyText, digestOf } from './key-format.ts';
import { readPage, type Page, type PageQuery } from '../page.ts';
import { withTransaction } from '../pool.ts';
import type { Role } from '../../lib/roles.ts';
import { onlyRow } from '../rows.ts';

/** Provider of a CAPTCHA. */
export type Captcha = 'turnstile' | 'hcaptcha';

export type KeyKind = 'admin' | 'assistant';

export interface KeyRow {
  id: string;
  organizationId: string;
  kind: KeyKind;
  /** Role of an admin key. It means nothing for an assistant key. */
  role: Role;
  name: string | null;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  /** Origins whose pages may use it, as `parseOrigin` writes them; empty for all. */
  allowedOrigins: string[];
  /** With allowed origins, whether requests without an `Origin` header may use it too. */
  allowsNoOrigin: boolean;
  /** Whether each reader's browser must solve a challenge first. */
  proofOfWork: boolean;
  /** Requests with it, from all readers together; null for no limit of its own. */
  requestsPerMinute: number | null;
  requestsPerDay: number | null;
  /** CAPTCHA that each reader must solve first; null for none. */
  captcha: Captcha | null;
}

/** Conditions under which a key may be used. */
export type KeyRules = Pick<KeyRow, keyof typeof ruleColumns>;

const ruleColumns = {
  allowedOrigins: 'allowed_origins',
  allowsNoOrigin: 'allows_no_origin',
  proofOfWork: 'proof_of_work',
  requestsPerMinute: 'requests_per_minute',
  requestsPerDay: 'requests_per_day',
  captcha: 'captcha',
} satisfies Partial<Record<keyof KeyRow, string>>;

/** Changes of a key's rules; the secret that verifies its CAPTCHA is encrypted for the key (`captchaSecretOwner`). */
type KeyChange = Partial<KeyRules> & { captchaSecret?: string | null; role?: Role };

interface NewKey extends Partial<Omit<KeyRules, 'captcha'>> {
  kind: KeyKind;
  /** Default `admin`. */
  role?: Role;
  name?: string;
  expiresInDays?: number;
}

export const keyColumns = `
  id, organization_id as "organizationId", kind, role, name, created_at as "createdAt", expires_at as "expiresAt",
  revoked_at as "revokedAt", last_used_at as "lastUsedAt", allowed_origins as "allowedOrigins",
  allows_no_origin as "allowsNoOrigin", proof_of_work as "proofOfWork", requests_per_minute as "requestsPerMinute",
  requests_per_day as "requestsPerDay", captcha`;

/** Purpose under which the secret of a key's CAPTCHA is encrypted. */
export function captchaSecretOwner(keyId: string): string {
  return `key-captcha/${keyId}`;
}

/** Returns the rules of a key, without the rest of its row. */
export function rulesOf({
  allowedOrigins,
  allowsNoOrigin,
  proofOfWork,
  requestsPerMinute,
  requestsPerDay,
  captcha,
}: KeyRules): KeyRules {
  return { allowedOrigins, allowsNoOrigin, proofOfWork, requestsPerMinute, requestsPerDay, captcha };
}

/** Reports whether rules restrict a key at all, which only an assistant key may be. */
export function restrictsKey({
  allowedOrigins = [],
  proofOfWork = false,
  requestsPerMinute = null,
  requestsPerDay = null,
  captcha = null,
}: Partial<KeyRules>): boolean {
  const limits = [requestsPerMinute, requestsPerDay, captcha];
  return allowedOrigins.length > 0 || proofOfWork || limits.some((limit) => limit !== null);
}

/** Reports whether a key is the only valid one with the role `admin`. Until the transaction ends, no other key loses that role. */
async function isLastAdmin(client: PoolClient, { organizationId }: Owner, id: string): Promise<boolean> {
  await client.query('select from organizations where id = $1 for no key update', [organizationId]);
  const { rows } = await client.query<{ id: string }>(
    `select id from api_keys where organization_id = $1 and kind = 'admin' and role = 'admin' and revoked_at is null
       and (expires_at is null or expires_at > now())`,
    [organizationId],
  );
  return rows.length === 1 && rows[0]?.id === id;
}

export type KeyStore = ReturnType<typeof createKeyStore>;

/** `pepper` is the secret of the installation (`DOCKET_KEY_PEPPER`). */
export function createKeyStore(pool: Pool, pepper: string) {
  return {
    /** `key` is the full text, which is shown once and not stored. */
    create(
      caller: Caller,
      { kind, role = 'admin', name, expiresInDays, ...rules }: NewKey,
    ): Promise<{ key: string; row: KeyRow }> {
      const { key, id, secret } = createKeyText(kind);
      return withTransaction(pool, async (client) => {
        const { rows } = await client.query<KeyRow>(
          `insert into api_keys
             (id, organization_id, kind, name, digest, expires_at, allowed_origins, allows_no_origin, proof_of_work,
              requests_per_minute, requests_per_day, role)
           values ($1, $2, $3, $4, $5, now() + $6::integer * interval '24 hours', $7, $8, $9, $10, $11, $12) returning ${keyColumns}`,
          [
            id,
            caller.organizationId,
            kind,
            name ?? null,
            digestOf(pepper, secret),
            expiresInDays ?? null,
            rules.allowedOrigins ?? [],
            rules.allowsNoOrigin ?? false,
            rules.proofOfWork ?? false,
            rules.requestsPerMinute ?? null,
            rules.requestsPerDay ?? null,
            role,
          ],
        );
        await writeAudit(client, caller, {
          action: 'key.create',
          subject: id,
          details: kind === 'admin' ? { kind, role } : { kind },
        });
        return { key, row: onlyRow(rows) };
      });
    },

    /** Oldest first. Throws InvalidCursorError. */
    list: (owner: Owner, query: PageQuery): Promise<Page<KeyRow>> =>
      readPage<KeyRow>(pool, { table: 'api_keys', columns: keyColumns }, owner, query),

    /**
     * Changes a key. Null when there is no such key, an admin key is to get rules, or an assistant key a role;
     * `last-admin` when no key with the role `admin` would be left.
     */
    async update(caller: Caller, id: string, change: KeyChange): Promise<KeyRow | 'last-admin' | null> {
      if (!canBeId(id)) return null;
      const columns = { ...ruleColumns, role: 'role', captchaSecret: 'captcha_secret' };
      const given = Object.entries(columns).filter(([name]) => Reflect.get(change, name) !== undefined);
      return withTransaction(pool, async (client) => {
        const losesRole = change.role !== undefined && change.role !== 'admin';
        if (losesRole && (await isLastAdmin(client, caller, id))) return 'last-admin';
        const { rows } = await client.query<KeyRow>(
          `update api_keys set ${['id = id', ...given.map(([, column], at) => `${column} = $${at + 5}`)].join(', ')}
           where id = $1 and organization_id = $2 and case kind when 'admin' then not $3 else not $4 end
           returning ${keyColumns}`,
          [
            id,
            caller.organizationId,
            restrictsKey(change),
            change.role !== undefined,
            ...given.map(([name]) => Reflect.get(change, name)),
          ],
        );
        const [key] = rows;
        if (key === undefined) return null;
        await writeAudit(client, caller, {
          action: 'key.change',
          subject: id,
          details: {
            fields: Object.keys(change).filter((field) => field in ruleColumns || field === 'role'),
            role: change.role,
          },
        });
        return key;
      });
    },

    /** Returns the encrypted secret that verifies the key's CAPTCHA; null when it requires none. */
    async captchaSecret({ organizationId }: Owner, id: string): Promise<string | null> {
      const { rows } = await pool.query<{ secret: string | null }>(
        'select captcha_secret as secret from api_keys where organization_id = $1 and id = $2',
        [organizationId, id],
      );
      return rows[0]?.secret ?? null;
    },

    /** Null when there is no such key; `last-admin` when no key with the role `admin` would be left. Idempotent. */
    async revoke(caller: Caller, id: string): Promise<'revoked' | 'last-admin' | null> {
      if (!canBeId(id)) return null;
      return withTransaction(pool, async (client) => {
        if (await isLastAdmin(client, caller, id)) return 'last-admin';
        const { rows } = await client.query<{ wasRevoked: boolean }>(
          `select revoked_at is not null as "wasRevoked" from api_keys where id = $1 and organization_id = $2
           for no key update`,
          [id, caller.organizationId],
        );
        const [key] = rows;
        if (key === undefined) return null;
        if (key.wasRevoked) return 'revoked';
        await client.query('update api_keys set revoked_at = now() where id = $1', [id]);
        await writeAudit(client, caller, { action: 'key.revoke', subject: id });
        return 'revoked';
      });
    },
  };
}
