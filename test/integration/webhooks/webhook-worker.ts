import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import { inject } from 'vitest';
import { createKnownSecrets } from '../../../lib/redaction/known-secrets.ts';
import { createAttempt } from '../../../activities/attempt.ts';
import { createWebhookSender, type WebhookSenderOptions } from '../../../activities/network/webhook-sender.ts';
import { createWebhookActivities, type WebhookActivityDeps } from '../../../activities/webhooks/webhooks.ts';
import { createWebhookAttemptStore } from '../../../db/for-worker/webhooks/webhook-attempts.ts';
import { createWebhookDeliveryStore, type DeliveryRow } from '../../../db/webhooks/webhook-deliveries.ts';
import {
  createWebhookStore,
  type NewWebhook,
  type WebhookChange,
  type WebhookRow,
} from '../../../db/webhooks/webhook-endpoints.ts';
import { createSecretBox } from '../../../lib/encryption/secret-box.ts';
import { createWorker, jobQueue, webhookQueue } from '../../../worker/create-worker.ts';
import { createWebhookChores } from '../../../worker/chores/webhook-chores.ts';
import { prepareWorkflowBundle } from '../../../worker/workflow-bundle.ts';
import { deliverWebhookWorkflowId } from '../../../workflows/contract/messages.ts';
import type { Pool } from 'pg';
import { operatorOf } from '../../../db/caller.ts';
import type { ProjectRow } from '../../../db/organizations/projects.ts';
import { createWebhookStarts } from '../../../db/for-worker/webhooks/webhook-starts.ts';
import { operatorOfProject } from '../../support/database/build.ts';
import type { TestDatabase } from '../../support/database/database.ts';
import { testKeys } from '../../support/database/encryption.ts';
import { quietRuntime, testWorkers } from '../../support/stack/worker.ts';

export interface WebhookWorkerOptions extends Partial<WebhookSenderOptions> {
  database: TestDatabase;
  change?(deps: WebhookActivityDeps): Partial<WebhookActivityDeps>;
}

export interface WebhookWorker extends AsyncDisposable {
  client: Client;
  /** The operator's changes to a webhook. */
  ping(webhook: WebhookRow): Promise<string | null>;
  change(webhook: WebhookRow, change: WebhookChange): Promise<WebhookRow | null>;
  /** A webhook with its secret. */
  createWebhook(
    project: ProjectRow,
    webhook: Partial<NewWebhook> & { url: string },
  ): Promise<{ webhook: WebhookRow; secret: string }>;
  /** Waits until the executions of the webhook's deliveries have ended, and returns the deliveries, newest first. */
  settled(webhook: WebhookRow): Promise<DeliveryRow[]>;
  deliveriesOf(webhook: WebhookRow): Promise<DeliveryRow[]>;
  /** The execution of a delivery. */
  handleOf(webhook: WebhookRow, delivery: DeliveryRow, round?: number): ReturnType<Client['workflow']['getHandle']>;
}

export async function buildWebhook(
  pool: Pool,
  project: ProjectRow,
  webhook: Partial<NewWebhook>,
): Promise<{ webhook: WebhookRow; secret: string }> {
  const defaults = { url: 'https://a.example', description: null, eventTypes: [] };
  const created = await createWebhookStore(pool, testBox).create(operatorOf(project), project.id, {
    ...defaults,
    ...webhook,
  });
  if (typeof created === 'string') throw new Error(`The webhook was not created: ${created}.`);
  return created;
}

/** Newest first. */
export async function listDeliveries(pool: Pool, webhookId: string): Promise<DeliveryRow[]> {
  const { rows } = await pool.query<{ projectId: string }>(
    'select project_id as "projectId" from webhook_endpoints where id = $1',
    [webhookId],
  );
  const [webhook] = rows;
  if (webhook === undefined) return [];
  const { projectId } = webhook;
  const operator = await operatorOfProject(pool, projectId);
  const ref = { projectId, id: webhookId };
  return (await createWebhookDeliveryStore(pool).list(operator, ref, { limit: 100 })).deliveries;
}

export const testBox = createSecretBox(testKeys('test'));

/** The shortest possible delay, repeatedly. */
export const shortWaitsMs: readonly number[] = [1_000, 1_000, 1_000];

/** The real worker of webhook deliveries on its own queue, with its chores; attempts are a second apart. */
export async function startWebhookWorker(options: WebhookWorkerOptions): Promise<WebhookWorker> {
  quietRuntime();
  const { database, change, ...sender } = options;
  const { pool } = database;
  await using resources = new AsyncDisposableStack();
  const address = inject('temporalAddress');
  const connection = await Connection.connect({ address });
  resources.defer(() => connection.close());
  const native = await NativeConnection.connect({ address });
  resources.defer(() => native.close());
  const client = new Client({ connection });

  const secrets = createKnownSecrets([]);
  const base: WebhookActivityDeps = {
    attempts: createWebhookAttemptStore(pool, testBox),
    sender: createWebhookSender({ allowedHosts: [], ...sender }),
    attempt: createAttempt({ secrets, retryBaseMs: 10 }),
    secrets,
    baseUrl: 'https://docket.example.com',
    waitsMs: shortWaitsMs,
  };
  const taskQueue = `test-${randomUUID()}`;
  const activities = createWebhookActivities({ ...base, ...change?.(base) });
  const bundle = await prepareWorkflowBundle();
  const shape = { namespace: 'default', bundle, shutdownGraceMs: 0, workers: testWorkers };
  for (const queue of [jobQueue({}, taskQueue), webhookQueue(activities, taskQueue)]) {
    const worker = await createWorker({ connection: native, queue, ...shape });
    const run = worker.run();
    resources.defer(async () => {
      worker.shutdown();
      await run;
    });
  }
  const deliveries = createWebhookStarts(pool);
  const log = pino({ level: 'silent' });
  resources.use(createWebhookChores({ deliveries, client, log, taskQueue, startsEveryMs: 50 }));
  const webhooks = createWebhookStore(pool, testBox);
  const running = resources.move();

  const deliveriesOf = ({ id }: WebhookRow) => listDeliveries(pool, id);
  const operator = async ({ projectId }: WebhookRow) => operatorOfProject(pool, projectId);

  async function hasEnded(webhookId: string): Promise<boolean> {
    const { rows } = await pool.query(
      `select from webhook_deliveries where endpoint_id = $1 and (status = 'pending' or start_at is not null)`,
      [webhookId],
    );
    return rows.length === 0;
  }

  return {
    client,
    deliveriesOf,
    ping: async (webhook) => webhooks.ping(await operator(webhook), webhook),
    change: async (webhook, change) => webhooks.update(await operator(webhook), webhook, change),
    createWebhook: (project, webhook) => buildWebhook(pool, project, webhook),
    async settled(webhook) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const timer = setInterval(() => {
        hasEnded(webhook.id).then((ended) => ended && resolve(), reject);
      }, 50);
      await promise.finally(() => clearInterval(timer));
      return deliveriesOf(webhook);
    },
    handleOf: (webhook, delivery, round = 1) =>
      client.workflow.getHandle(
        deliverWebhookWorkflowId({ webhookId: webhook.id, messageId: delivery.messageId, round }),
      ),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
