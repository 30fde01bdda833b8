import type { Pool, PoolClient } from 'pg';
import type { SecretBox } from '../encryption/secret-box.ts';
import { canBeId, newId } from './ids.ts';
import { withTransaction } from './pool.ts';
import { onlyRow } from './rows.ts';
import { toStoredText } from './stored-text.ts';
import { newWebhookSecret } from './webhook-secret.ts';

export interface WebhookRow {
  id: string;
  projectId: string;
  url: string;
  description: string | null;
  /** None is all of them. */
  eventTypes: string[];
  enabled: boolean;
  /** Why it was disabled; null when a person did it. */
  disabledReason: string | null;
  /** Since when every attempt has failed; null while they succeed. */
  failingSince: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface NewWebhook {
  projectId: string;
  url: string;
  description: string | null;
  eventTypes: string[];
  /** The client's own; without it one is made. */
  secret?: string;
}

export type WebhookChange = Partial<Pick<WebhookRow, 'url' | 'description' | 'eventTypes' | 'enabled'>>;

export interface WebhookStore {
  /** `secret` is shown once; null when the project has as many webhooks as it may. */
  create(webhook: NewWebhook): Promise<{ webhook: WebhookRow; secret: string } | null>;
  /** Oldest first. */
  list(projectId: string): Promise<WebhookRow[]>;
  find(projectId: string, id: string): Promise<WebhookRow | null>;
  /** Enabling one forgets its failures. Null when there is none. */
  update(ref: { projectId: string; id: string; change: WebhookChange }): Promise<WebhookRow | null>;
  /** Its deliveries go with it; false when there was none. */
  remove(projectId: string, id: string): Promise<boolean>;
  /** The secret so far signs beside the new one for `overlapMs`. Null when there is no such webhook. */
  rotateSecret(ref: {
    projectId: string;
    id: string;
    secret?: string;
    overlapMs: number;
  }): Promise<{ secret: string; previousValidUntil: Date } | null>;
  /** A ping for this webhook alone, on its way; null when there is no such webhook or it is disabled. */
  ping(projectId: string, id: string): Promise<string | null>;
}

export const mostWebhooks = 20;

const webhookColumns = `
  id, project_id as "projectId", url, description, event_types as "eventTypes", enabled,
  disabled_reason as "disabledReason", failing_since as "failingSince", created_at as "createdAt",
  updated_at as "updatedAt"`;

/** What the secrets of a webhook are sealed for. */
export function webhookSecretOwner(webhookId: string): string {
  return `webhook-secret/${webhookId}`;
}

/** Who is told of what happens to the jobs of a project. Secrets are stored sealed and never listed. */
export function createWebhookStore(pool: Pool, box: Pick<SecretBox, 'seal'>): WebhookStore {
  async function create({ projectId, url, description, eventTypes, secret = newWebhookSecret() }: NewWebhook) {
    return withTransaction(pool, async (client) => {
      // one create of a project at a time, without holding up its jobs
      await client.query('select from projects where id = $1 for no key update', [projectId]);
      if ((await countOf(client, projectId)) >= mostWebhooks) return null;
      const id = newId('whk_');
      const { rows } = await client.query<WebhookRow>(
        `insert into webhook_endpoints (id, project_id, url, description, event_types, secret)
         values ($1, $2, $3, $4, $5, $6) returning ${webhookColumns}`,
        [id, projectId, url, storedOrNull(description), eventTypes, box.seal(secret, webhookSecretOwner(id))],
      );
      return { webhook: onlyRow(rows), secret };
    });
  }

  async function update({ projectId, id, change }: { projectId: string; id: string; change: WebhookChange }) {
    const { url, description, eventTypes, enabled } = change;
    const { rows } = await pool.query<WebhookRow>(
      `update webhook_endpoints
       set url = coalesce($3, url), description = case when $4 then $5 else description end,
           event_types = coalesce($6, event_types), enabled = coalesce($7, enabled),
           disabled_reason = case when $7 is null then disabled_reason end,
           failing_since = case when $7 or $3 is not null then null else failing_since end,
           updated_at = now()
       where project_id = $1 and id = $2 returning ${webhookColumns}`,
      [
        projectId,
        id,
        url ?? null,
        description !== undefined,
        storedOrNull(description ?? null),
        eventTypes ?? null,
        enabled ?? null,
      ],
    );
    return rows[0] ?? null;
  }

  return {
    create,
    update,

    async list(projectId) {
      const { rows } = await pool.query<WebhookRow>(
        `select ${webhookColumns} from webhook_endpoints where project_id = $1 order by created_at, id`,
        [projectId],
      );
      return rows;
    },

    async find(projectId, id) {
      if (!canBeId(id)) return null;
      const { rows } = await pool.query<WebhookRow>(
        `select ${webhookColumns} from webhook_endpoints where project_id = $1 and id = $2`,
        [projectId, id],
      );
      return rows[0] ?? null;
    },

    async remove(projectId, id) {
      const { rowCount } = await pool.query('delete from webhook_endpoints where project_id = $1 and id = $2', [
        projectId,
        id,
      ]);
      return rowCount === 1;
    },

    async rotateSecret({ projectId, id, secret = newWebhookSecret(), overlapMs }) {
      const { rows } = await pool.query<{ previousValidUntil: Date }>(
        `update webhook_endpoints
         set previous_secret = secret, previous_secret_until = now() + $4::float8 * interval '1 millisecond',
             secret = $3, updated_at = now()
         where project_id = $1 and id = $2 returning previous_secret_until as "previousValidUntil"`,
        [projectId, id, box.seal(secret, webhookSecretOwner(id)), overlapMs],
      );
      const [rotated] = rows;
      return rotated === undefined ? null : { secret, ...rotated };
    },

    async ping(projectId, id) {
      const { rows } = await pool.query<{ id: string }>(pingStatement, [projectId, id, newId('msg_'), newId('dlv_')]);
      return rows[0]?.id ?? null;
    },
  };
}

const pingStatement = `
  with receiver as materialized (
    select id from webhook_endpoints where project_id = $1 and id = $2 and enabled for key share
  ), message as (
    insert into webhook_messages (id, project_id, type) select $3, $1, 'webhook.ping' from receiver returning id
  )
  insert into webhook_deliveries (id, message_id, endpoint_id)
  select $4, message.id, receiver.id from message, receiver returning id`;

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
