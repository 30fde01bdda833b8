import type { Pool, PoolClient } from 'pg';
import type { SecretBox } from '../../../lib/encryption/secret-box.ts';
import type { AgentJob, PresentableJob } from '../../jobs/agent-job.ts';
import type { DeliverWebhookInput, WebhookAttempt, WebhookAttemptRef } from '../../../workflows/contract/webhook.ts';
import { jobColumns } from '../../jobs/job-statements.ts';
import { withTransaction } from '../../pool.ts';
import { toStoredText } from '../../stored-text.ts';
import { webhookSecretOwner, webhookUrlOwner, type WebhookFormat } from '../../webhooks/webhook-endpoints.ts';

/** Target and content of an attempt. */
export interface WebhookShipment {
  webhookId: string;
  format: WebhookFormat;
  url: string;
  /** Signing secrets, newest first. */
  secrets: string[];
  /** Attempts since a person last requested one. */
  tries: number;
  messageId: string;
  /** Null for a message about no job. */
  projectId: string | null;
  type: string;
  createdAt: Date;
  /** The body, once it has been created. */
  body: string | null;
}

/** `made`: this attempt was recorded. `over`: the delivery has ended, or a newer round delivers it. */
type OpenedAttempt =
  | { kind: 'send'; shipment: WebhookShipment }
  | ({ kind: 'made' } & WebhookAttempt)
  | { kind: 'over' };

export interface AttemptResult {
  durationMs: number;
  statusCode: number | null;
  /** Beginning of the receiver's response. */
  response: string | null;
  error: string | null;
  /** `gone`: the receiver wants no more messages. */
  verdict: 'delivered' | 'failed' | 'gone';
  /** Wait until the next attempt if this one failed; null when it was the last. */
  waitMs: number | null;
}

export type MessageJob = PresentableJob & {
  projectId: string;
  /** The pull request that the message is about, if it is an earlier one of the job. */
  earlierPullRequest: MessagePullRequest | null;
};

export type MessagePullRequest = NonNullable<AgentJob['details']['pullRequest']> & { link: string | null };

/** A webhook whose attempts have failed for this long is disabled. */
const maxFailingDays = 5;
/** A failure streak ends with a success, or after this long without an attempt. Longer than the longest retry delay. */
const maxPauseDays = 2;

const goneReason = 'The receiver responded with 410 (Gone), which ends the subscription.';
const failingReason = `Every attempt has failed for ${maxFailingDays} days. Fix the receiver, then enable the webhook.`;
const disabledError = 'The webhook was disabled before the message could be delivered.';

export type WebhookAttemptStore = ReturnType<typeof createWebhookAttemptStore>;

/** Creates the store for the execution of a delivery. */
export function createWebhookAttemptStore(pool: Pool, box: Pick<SecretBox, 'open'>) {
  return {
    /** Throws SealedError while the key of a secret is missing. */
    async open(ref: WebhookAttemptRef): Promise<OpenedAttempt> {
      const made = await attemptOf(pool, ref);
      if (made !== null) return { kind: 'made', ...made };
      const { rows } = await pool.query<WebhookShipment & { enabled: boolean; sealedUrl: string | null }>({
        ...findShipment,
        values: [ref.deliveryId, ref.round],
      });
      const [found] = rows;
      if (found === undefined) return { kind: 'over' };
      const { enabled, sealedUrl, ...shipment } = found;
      if (!enabled) {
        await endUnsent(pool, ref);
        return { kind: 'over' };
      }
      const owner = webhookSecretOwner(shipment.webhookId);
      const secrets = shipment.secrets.map((sealed) => box.open(sealed, owner));
      const url = sealedUrl === null ? shipment.url : box.open(sealedUrl, webhookUrlOwner(shipment.webhookId));
      return { kind: 'send', shipment: { ...shipment, url, secrets } };
    },

    /** Returns the job of a message as the change left it; null for a message about no job. */
    async jobOf(messageId: string): Promise<MessageJob | null> {
      const { rows } = await pool.query<MessageJob>(
        `select ${jobColumns}, "earlierPullRequest" from (
           select (jsonb_populate_record(null::jobs, job)).*, pull_request as "earlierPullRequest"
           from webhook_messages where id = $1 and job is not null
         ) as jobs`,
        [messageId],
      );
      return rows[0] ?? null;
    },

    /** Stores the body of a message; the first one stays. Null when the message is gone. */
    async keepBody(messageId: string, body: string): Promise<string | null> {
      const { rows } = await pool.query<{ body: string }>(
        'update webhook_messages set body = coalesce(body, $2) where id = $1 returning body',
        [messageId, body],
      );
      return rows[0]?.body ?? null;
    },

    /** Records the result of an attempt once; a second result is ignored and the first returned. */
    record: (ref: WebhookAttemptRef, result: AttemptResult): Promise<WebhookAttempt> =>
      withTransaction(pool, (client) => recordAttempt(client, ref, result)),
  };
}

const findShipment = {
  name: 'find-webhook-shipment',
  text: `
    select endpoint.id as "webhookId", endpoint.format, endpoint.url,
           endpoint.sealed_url as "sealedUrl", endpoint.enabled, delivery.tries, message.id as "messageId",
           message.job->>'project_id' as "projectId", message.type, message.created_at as "createdAt", message.body,
           case when endpoint.previous_secret_until > now()
                then array[endpoint.secret, endpoint.previous_secret] else array[endpoint.secret] end as secrets
    from webhook_deliveries as delivery
    join webhook_endpoints as endpoint on endpoint.id = delivery.endpoint_id
    join webhook_messages as message on message.id = delivery.message_id
    where delivery.id = $1 and delivery.round = $2 and delivery.status = 'pending'`,
};

async function attemptOf(db: Pick<PoolClient, 'query'>, ref: WebhookAttemptRef): Promise<WebhookAttempt | null> {
  const { rows } = await db.query<WebhookAttempt>(
    `select wait_ms::float8 as "waitMs" from webhook_attempts where delivery_id = $1 and round = $2 and attempt = $3`,
    [ref.deliveryId, ref.round, ref.attempt],
  );
  return rows[0] ?? null;
}

async function endUnsent(pool: Pool, { deliveryId, round }: DeliverWebhookInput): Promise<void> {
  await pool.query(
    `update webhook_deliveries set status = 'failed', error = $3, ended_at = now()
     where id = $1 and round = $2 and status = 'pending'`,
    [deliveryId, round, disabledError],
  );
}

async function recordAttempt(
  client: PoolClient,
  ref: WebhookAttemptRef,
  result: AttemptResult,
): Promise<WebhookAttempt> {
  // locks the endpoint before the delivery, in the order of the statement that deletes both
  const endpoint = await client.query<{ id: string }>(
    `select id from webhook_endpoints where id = (select endpoint_id from webhook_deliveries where id = $1)
     for no key update`,
    [ref.deliveryId],
  );
  const [webhook] = endpoint.rows;
  if (webhook === undefined) return { waitMs: null };
  const made = await attemptOf(client, ref);
  if (made !== null) return made;
  const isEnabled = await noteHealth(client, webhook.id, result.verdict);
  const waitMs = result.verdict === 'failed' && isEnabled ? result.waitMs : null;
  await writeAttempt(client, ref, { ...result, waitMs });
  await client.query(
    `update webhook_deliveries
     set tries = tries + 1, status = $3, next_attempt_at = now() + $4::float8 * interval '1 millisecond',
         ended_at = case when $3 = 'pending' then null else now() end
     where id = $1 and round = $2 and status = 'pending'`,
    [ref.deliveryId, ref.round, statusOf(result.verdict, waitMs), waitMs ?? 0],
  );
  return { waitMs };
}

function statusOf(verdict: AttemptResult['verdict'], waitMs: number | null): 'pending' | 'delivered' | 'failed' {
  if (verdict === 'delivered') return 'delivered';
  return waitMs === null ? 'failed' : 'pending';
}

/** Returns whether the webhook is enabled after this attempt. */
async function noteHealth(client: PoolClient, id: string, verdict: AttemptResult['verdict']): Promise<boolean> {
  if (verdict === 'delivered') {
    await client.query(
      `update webhook_endpoints set failing_since = null, last_failed_at = null
       where id = $1 and last_failed_at is not null`,
      [id],
    );
    return true;
  }
  const { rows } = await client.query<{ enabled: boolean }>(noteFailureStatement, [
    id,
    verdict === 'gone' ? goneReason : null,
    failingReason,
    maxFailingDays,
    maxPauseDays,
  ]);
  return rows[0]?.enabled ?? false;
}

const noteFailureStatement = `
  with row_of_failures as (
    select id, case when failing_since is null or last_failed_at < now() - $5::float8 * interval '1 day'
                    then now() else failing_since end as since
    from webhook_endpoints where id = $1
  ), verdict as (
    select id, since,
           coalesce($2, case when since <= now() - $4::float8 * interval '1 day' then $3 end) as reason
    from row_of_failures
  )
  update webhook_endpoints as endpoint
  set failing_since = verdict.since, last_failed_at = now(),
      enabled = endpoint.enabled and verdict.reason is null,
      disabled_reason = case when endpoint.enabled then verdict.reason else endpoint.disabled_reason end
  from verdict where endpoint.id = verdict.id
  returning endpoint.enabled`;

async function writeAttempt(client: PoolClient, ref: WebhookAttemptRef, result: AttemptResult): Promise<void> {
  const { statusCode, durationMs, response, error, waitMs } = result;
  await client.query(
    `insert into webhook_attempts
       (delivery_id, round, attempt, status_code, duration_ms, response, error, wait_ms, started_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, now() - $5::integer * interval '1 millisecond')`,
    [
      ref.deliveryId,
      ref.round,
      ref.attempt,
      statusCode,
      durationMs,
      response === null ? null : toStoredText(response),
      error,
      waitMs,
    ],
  );
}
