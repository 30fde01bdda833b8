import type { Pool, PoolClient, QueryResultRow } from 'pg';
import type { SecretBox } from '../../lib/encryption/secret-box.ts';
import { writeAudit } from '../organizations/audit.ts';
import type { Caller, Owner } from '../caller.ts';
import { canBeId, newId } from '../ids.ts';
import { withTransaction } from '../pool.ts';
import { onlyRow } from '../rows.ts';
import { toStoredText } from '../stored-text.ts';
import { newWebhookSecret } from './webhook-secret.ts';

/** `standard`: signed messages of Standard Webhooks. `slack`: messages for a Slack incoming webhook. */
export const webhookFormats = ['standard', 'slack'] as const;
export type WebhookFormat = (typeof webhookFormats)[number];

export interface WebhookRow {
  id: string;
  projectId: string;
  format: WebhookFormat;
  /** For Slack, only its host, because the URL is a secret. */
  url: string;
  description: string | null;
  /** Empty for all types. */
  eventTypes: string[];
  enabled: boolean;
  /** Why it was disabled; null when a person did it. */
  disabledReason: string | null;
  /** Start of the current streak of failures; null after a success. */
  failingSince: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A webhook; its id is valid in the project's organization only. */
export interface WebhookRef {
  projectId: string;
  id: string;
}

export interface NewWebhook {
  /** Standard by default. */
  format?: WebhookFormat;
  url: string;
  description: string | null;
  eventTypes: string[];
  /** The client's secret; if omitted, one is created. */
  secret?: string;
}

export type WebhookChange = Partial<Pick<WebhookRow, 'url' | 'description' | 'eventTypes' | 'enabled'>>;

export const maxWebhooks = 20;

const webhookColumns = `
  id, project_id as "projectId", format, url, description, event_types as "eventTypes", enabled,
  disabled_reason as "disabledReason", failing_since as "failingSince", created_at as "createdAt",
  updated_at as "updatedAt"`;

/** Purpose under which a webhook's secrets are encrypted. */
export function webhookSecretOwner(webhookId: string): string {
  return `webhook-secret/${webhookId}`;
}

/** Purpose under which the address of a Slack webhook is encrypted. */
export function webhookUrlOwner(webhookId: string): string {
  return `webhook-url/${webhookId}`;
}

/** `$1` to `$3`: the project, the webhook and the organization. */
export const isOwnWebhook = `
  webhook_endpoints.project_id = $1 and webhook_endpoints.id = $2
  and exists (select from projects where projects.id = $1 and projects.organization_id = $3)`;

export type WebhookStore = ReturnType<typeof createWebhookStore>;

/**
 * Creates the store of webhooks, which receive the events of a project's jobs. Secrets are stored encrypted and never
 * listed.
 */
export function createWebhookStore(pool: Pool, box: Pick<SecretBox, 'seal'>) {
  /** Runs a statement on a webhook and writes the audit entry of the change. */
  function change<Row extends QueryResultRow>(
    caller: Caller,
    { projectId, id }: WebhookRef,
    {
      text,
      values = [],
      ...entry
    }: { text: string; values?: unknown[]; action: string; details?: Record<string, unknown> },
  ): Promise<Row | null> {
    return withTransaction(pool, async (client) => {
      const { rows } = await client.query<Row>(text, [projectId, id, caller.organizationId, ...values]);
      const [row] = rows;
      if (row === undefined) return null;
      await writeAudit(client, caller, { subject: id, ...entry, details: { projectId, ...entry.details } });
      return row;
    });
  }

  function sealedUrl(format: WebhookFormat, id: string, url: string): string | null {
    return format === 'slack' ? box.seal(url, webhookUrlOwner(id)) : null;
  }

  return {
    /** `secret` is shown once. */
    async create(
      caller: Caller,
      projectId: string,
      webhook: NewWebhook,
    ): Promise<{ webhook: WebhookRow; secret: string } | 'no-project' | 'too-many'> {
      const { format = 'standard', url, description, eventTypes, secret = newWebhookSecret() } = webhook;
      return withTransaction(pool, async (client) => {
        // one create per project at a time, without blocking its jobs
        const project = await client.query(
          'select from projects where id = $1 and organization_id = $2 for no key update',
          [projectId, caller.organizationId],
        );
        if (project.rowCount !== 1) return 'no-project';
        if ((await countOf(client, projectId)) >= maxWebhooks) return 'too-many';
        const id = newId('whk_');
        const { rows } = await client.query<WebhookRow>(
          `insert into webhook_endpoints (id, project_id, url, description, event_types, secret, format, sealed_url)
           values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${webhookColumns}`,
          [
            id,
            projectId,
            shownUrl(format, url),
            storedOrNull(description),
            eventTypes,
            box.seal(secret, webhookSecretOwner(id)),
            format,
            sealedUrl(format, id, url),
          ],
        );
        await writeAudit(client, caller, {
          action: 'webhook.create',
          subject: id,
          details: { projectId, host: hostOf(url) },
        });
        return { webhook: onlyRow(rows), secret };
      });
    },

    /** Oldest first. */
    async list({ organizationId }: Owner, projectId: string): Promise<WebhookRow[]> {
      const { rows } = await pool.query<WebhookRow>(
        `select ${webhookColumns} from webhook_endpoints
         where project_id = $1 and exists (select from projects where id = $1 and organization_id = $2)
         order by created_at, id limit ${maxWebhooks}`,
        [projectId, organizationId],
      );
      return rows;
    },

    async find({ organizationId }: Owner, { projectId, id }: WebhookRef): Promise<WebhookRow | null> {
      if (!canBeId(id)) return null;
      const { rows } = await pool.query<WebhookRow>(
        `select ${webhookColumns} from webhook_endpoints where ${isOwnWebhook}`,
        [projectId, id, organizationId],
      );
      return rows[0] ?? null;
    },

    /** Changes a webhook; enabling one clears its failures. Null when there is none. */
    update(
      caller: Caller,
      ref: WebhookRef & Pick<WebhookRow, 'format'>,
      { url, description, eventTypes, enabled }: WebhookChange,
    ): Promise<WebhookRow | null> {
      const fields = Object.entries({ url, description, eventTypes, enabled }).filter(
        ([, value]) => value !== undefined,
      );
      return change<WebhookRow>(caller, ref, {
        action: 'webhook.change',
        details: {
          fields: fields.map(([name]) => name),
          ...(url !== undefined && { host: hostOf(url) }),
        },
        text: `
          update webhook_endpoints
          set url = coalesce($4, url), sealed_url = coalesce($9, sealed_url), description = case when $5 then $6 else description end,
              event_types = coalesce($7, event_types), enabled = coalesce($8, enabled),
              disabled_reason = case when $8 is null then disabled_reason end,
              failing_since = case when $8 or $4 is not null then null else failing_since end,
              updated_at = now()
          where ${isOwnWebhook} returning ${webhookColumns}`,
        values: [
          url === undefined ? null : shownUrl(ref.format, url),
          description !== undefined,
          storedOrNull(description ?? null),
          eventTypes ?? null,
          enabled ?? null,
          url === undefined ? null : sealedUrl(ref.format, ref.id, url),
        ],
      });
    },

    /** Removes a webhook with its deliveries; false when there was none. */
    async remove(caller: Caller, ref: WebhookRef): Promise<boolean> {
      const text = `delete from webhook_endpoints where ${isOwnWebhook} returning id`;
      return (await change(caller, ref, { action: 'webhook.delete', text })) !== null;
    },

    /**
     * Creates a new secret; the previous one also signs for `overlapMs`. `secret` is null when nothing changed, because the
     * previous one still signs: receivers may know no other. Null when there is no such webhook.
     */
    async rotateSecret(
      caller: Caller,
      ref: WebhookRef,
      { secret = newWebhookSecret(), overlapMs }: { secret?: string; overlapMs: number },
    ): Promise<{ secret: string | null; previousValidUntil: Date } | null> {
      const rotated = await change<{ previousValidUntil: Date }>(caller, ref, {
        action: 'webhook.secret',
        text: `
          update webhook_endpoints
          set previous_secret = secret, previous_secret_until = now() + $5::float8 * interval '1 millisecond',
              secret = $4, updated_at = now()
          where ${isOwnWebhook} and coalesce(previous_secret_until <= now(), true)
          returning previous_secret_until as "previousValidUntil"`,
        values: [box.seal(secret, webhookSecretOwner(ref.id)), overlapMs],
      });
      if (rotated !== null) return { secret, ...rotated };
      const { rows } = await pool.query<{ previousValidUntil: Date }>(
        `select previous_secret_until as "previousValidUntil" from webhook_endpoints where ${isOwnWebhook}`,
        [ref.projectId, ref.id, caller.organizationId],
      );
      return rows[0] === undefined ? null : { secret: null, ...rows[0] };
    },

    /** Sends a ping to this webhook only; null when there is no such webhook or it is disabled. */
    async ping(caller: Caller, ref: WebhookRef): Promise<string | null> {
      const sent = await change<{ id: string }>(caller, ref, {
        action: 'webhook.ping',
        text: pingStatement,
        values: [newId('msg_'), newId('dlv_')],
      });
      return sent?.id ?? null;
    },
  };
}

const pingStatement = `
  with receiver as materialized (
    select id from webhook_endpoints where ${isOwnWebhook} and enabled for key share
  ), message as (
    insert into webhook_messages (id, project_id, type) select $4, $1, 'webhook.ping' from receiver returning id
  )
  insert into webhook_deliveries (id, message_id, endpoint_id)
  select $5, message.id, receiver.id from message, receiver returning id`;

function shownUrl(format: WebhookFormat, url: string): string {
  return format === 'slack' ? `${new URL(url).origin}/***` : url;
}

/** The path of a webhook's address may contain a secret. */
function hostOf(url: string): string {
  return new URL(url).host;
}

async function countOf(client: PoolClient, projectId: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'select count(*)::integer as count from webhook_endpoints where project_id = $1',
    [projectId],
  );
  return onlyRow(rows).count;
}

function storedOrNull(text: string | null): string | null {
  return text === null ? null : toStoredText(text);
}
