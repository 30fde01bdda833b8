import type { Pool } from 'pg';
import type { DeliverWebhookInput } from '../workflows/contract/webhook.ts';
import { canBeId } from './ids.ts';
import { decodeCursor, encodeCursor } from './page-cursor.ts';

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

export interface AttemptRow {
  startedAt: Date;
  durationMs: number;
  statusCode: number | null;
  /** The first part of the answer. */
  response: string | null;
  error: string | null;
}

export interface DeliveryRow {
  id: string;
  messageId: string;
  type: string;
  jobId: string | null;
  status: DeliveryStatus;
  error: string | null;
  nextAttemptAt: Date | null;
  createdAt: Date;
  endedAt: Date | null;
  /** Newest first, at most 20. */
  attempts: AttemptRow[];
}

export interface StartableDelivery extends DeliverWebhookInput {
  messageId: string;
  webhookId: string;
  organizationId: string;
}

export interface WebhookDeliveryStore {
  /** Newest first. `cursor` is what the page before gave; a malformed one throws `InvalidCursorError`. */
  list(
    webhookId: string,
    page: { limit: number; cursor?: string },
  ): Promise<{ deliveries: DeliveryRow[]; nextCursor: string | null }>;
  find(webhookId: string, id: string): Promise<DeliveryRow | null>;
  /** Sends the message again from the first attempt on, whatever became of it; false when there is no such delivery. */
  redeliver(webhookId: string, id: string): Promise<boolean>;
  /** Deliveries that the engine is to be asked for now, left to this process for `leaseMs`. */
  claimStarts(options: { limit: number; leaseMs: number }): Promise<StartableDelivery[]>;
  /** The engine has it. */
  confirmStart(delivery: DeliverWebhookInput): Promise<void>;
  /** Begins a new round for deliveries whose next attempt is overdue by `overdueMs`: their execution is gone. */
  restartLost(options: { overdueMs: number }): Promise<number>;
  /** Deletes messages older than `days` that are on their way to nobody, and what was noted of them; answers how many. */
  sweep(options: { days: number; limit: number }): Promise<number>;
}

const deliveryColumns = `
  delivery.id, delivery.message_id as "messageId", message.type, message.job_id as "jobId", delivery.status, delivery.error,
  case when delivery.status = 'pending' then delivery.next_attempt_at end as "nextAttemptAt",
  delivery.created_at as "createdAt", delivery.ended_at as "endedAt",
  (extract(epoch from delivery.created_at) * 1000000)::bigint::text as "createdMicros", attempts.list as attempts`;

/** The log beside each delivery; times as numbers, because JSON has no other. */
const deliveryTables = `
  webhook_deliveries as delivery
  join webhook_messages as message on message.id = delivery.message_id
  cross join lateral (
    select coalesce(jsonb_agg(attempt order by attempt."startedMs" desc), '[]') as list from (
      select extract(epoch from started_at)::float8 * 1000 as "startedMs", duration_ms as "durationMs",
             status_code as "statusCode", response, error
      from webhook_attempts where delivery_id = delivery.id order by started_at desc limit 20
    ) as attempt
  ) as attempts`;

type StoredDelivery = Omit<DeliveryRow, 'attempts'> & {
  createdMicros: string;
  attempts: (Omit<AttemptRow, 'startedAt'> & { startedMs: number })[];
};

/** Messages on their way to the webhooks, and what became of them. */
export function createWebhookDeliveryStore(pool: Pool): WebhookDeliveryStore {
  return {
    async list(webhookId, { limit, cursor }) {
      const after = cursor === undefined ? null : decodeCursor(cursor);
      const { rows } = await pool.query<StoredDelivery>(
        `select ${deliveryColumns} from ${deliveryTables}
         where delivery.endpoint_id = $1
           and ($2::bigint is null or (delivery.created_at, delivery.id)
                < ('epoch'::timestamptz + $2::bigint * interval '1 microsecond', $3::text))
         order by delivery.created_at desc, delivery.id desc limit $4`,
        [webhookId, after?.createdMicros ?? null, after?.id ?? null, limit + 1],
      );
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      return { deliveries: page.map(deliveryOf), nextCursor: last === undefined ? null : encodeCursor(last) };
    },

    async find(webhookId, id) {
      if (!canBeId(id)) return null;
      const { rows } = await pool.query<StoredDelivery>(
        `select ${deliveryColumns} from ${deliveryTables} where delivery.endpoint_id = $1 and delivery.id = $2`,
        [webhookId, id],
      );
      const [row] = rows;
      return row === undefined ? null : deliveryOf(row);
    },

    async redeliver(webhookId, id) {
      if (!canBeId(id)) return false;
      const { rowCount } = await pool.query(
        `update webhook_deliveries
         set round = round + 1, status = 'pending', tries = 0, start_at = now(), next_attempt_at = now(), error = null,
             ended_at = null
         where endpoint_id = $1 and id = $2`,
        [webhookId, id],
      );
      return rowCount === 1;
    },

    async claimStarts({ limit, leaseMs }) {
      const { rows } = await pool.query<StartableDelivery>({
        name: 'claim-webhook-starts',
        text: `
          with due as materialized (
            select id from webhook_deliveries where start_at <= now() order by start_at limit $1 for update skip locked
          )
          update webhook_deliveries as delivery set start_at = now() + $2::float8 * interval '1 millisecond'
          from due, webhook_endpoints as endpoint, projects
          where delivery.id = due.id and endpoint.id = delivery.endpoint_id and projects.id = endpoint.project_id
          returning delivery.id as "deliveryId", round, message_id as "messageId", endpoint_id as "webhookId",
                    projects.organization_id as "organizationId"`,
        values: [limit, leaseMs],
      });
      return rows;
    },

    async confirmStart({ deliveryId, round }) {
      await pool.query('update webhook_deliveries set start_at = null where id = $1 and round = $2', [
        deliveryId,
        round,
      ]);
    },

    async restartLost({ overdueMs }) {
      const { rowCount } = await pool.query(
        `update webhook_deliveries set round = round + 1, start_at = now(), next_attempt_at = now()
         where id in (
           select id from webhook_deliveries
           where status = 'pending' and start_at is null
             and next_attempt_at < now() - $1::float8 * interval '1 millisecond'
           for update skip locked
         )`,
        [overdueMs],
      );
      return rowCount ?? 0;
    },

    async sweep({ days, limit }) {
      const { rowCount } = await pool.query(
        `delete from webhook_messages where id in (
           select id from webhook_messages as message
           where created_at < now() - $1::float8 * interval '1 day'
             and not exists (select from webhook_deliveries where message_id = message.id and status = 'pending')
           order by created_at limit $2 for update skip locked
         )`,
        [days, limit],
      );
      return rowCount ?? 0;
    },
  };
}

function deliveryOf(stored: StoredDelivery): DeliveryRow {
  const { createdMicros: _, attempts, ...row } = stored;
  return {
    ...row,
    attempts: attempts.map(({ startedMs, ...attempt }) => ({ startedAt: new Date(startedMs), ...attempt })),
  };
}
