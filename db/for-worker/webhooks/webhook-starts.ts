import type { Pool } from 'pg';
import { dueByTurns } from '../../due-by-turns.ts';
import type { DeliverWebhookInput } from '../../../workflows/contract/webhook.ts';

export interface StartableDelivery extends DeliverWebhookInput {
  messageId: string;
  webhookId: string;
  organizationId: string;
}

const dueStarts = dueByTurns({
  table: 'webhook_deliveries',
  holder: 'endpoint_id',
  due: 'start_at',
  where: 'start_at is not null',
});

export type WebhookStarts = ReturnType<typeof createWebhookStarts>;

/** Deliveries that are about to start in Temporal. */
export function createWebhookStarts(pool: Pool) {
  return {
    /** Claims deliveries to start in Temporal, for `leaseMs`, by turns of the webhooks. */
    async claimStarts({ limit, leaseMs }: { limit: number; leaseMs: number }): Promise<StartableDelivery[]> {
      const { rows } = await pool.query<StartableDelivery>({
        name: 'claim-webhook-starts',
        text: `
          with recursive ${dueStarts}
          update webhook_deliveries as delivery set start_at = now() + $2::float8 * interval '1 millisecond'
          from due, webhook_endpoints as endpoint, projects
          where delivery.id = due.id and endpoint.id = delivery.endpoint_id and projects.id = endpoint.project_id
          returning delivery.id as "deliveryId", round, message_id as "messageId", endpoint_id as "webhookId",
                    projects.organization_id as "organizationId"`,
        values: [limit, leaseMs],
      });
      return rows;
    },

    /** Confirms that Temporal has started it. */
    async confirmStart({ deliveryId, round }: DeliverWebhookInput): Promise<void> {
      await pool.query('update webhook_deliveries set start_at = null where id = $1 and round = $2', [
        deliveryId,
        round,
      ]);
    },

    /**
     * Starts a new round for deliveries whose next attempt is overdue by `overdueMs`, because their execution is gone;
     * returns how many.
     */
    async restartLost({ overdueMs, limit }: { overdueMs: number; limit: number }): Promise<number> {
      const { rowCount } = await pool.query(
        `update webhook_deliveries set round = round + 1, start_at = now(), next_attempt_at = now()
         where id in (
           select id from webhook_deliveries
           where status = 'pending' and start_at is null
             and next_attempt_at < now() - $1::float8 * interval '1 millisecond'
           order by next_attempt_at limit $2 for update skip locked
         )`,
        [overdueMs, limit],
      );
      return rowCount ?? 0;
    },

    /** Deletes messages older than `days` that no delivery needs, with their attempts; returns how many. */
    async sweep({ days, limit }: { days: number; limit: number }): Promise<number> {
      const { rowCount } = await pool.query(
        `delete from webhook_messages where id in (
           select id from webhook_messages as message
           where created_at < now() - $1::float8 * interval '1 day'
             and not exists (
               -- the offset keeps the planner from hashing all deliveries
               select from webhook_deliveries where message_id = message.id and status = 'pending' offset 0
             )
           order by created_at limit $2 for update skip locked
         )`,
        [days, limit],
      );
      return rowCount ?? 0;
    },
  };
}
