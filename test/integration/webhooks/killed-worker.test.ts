import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { expect, inject, it } from 'vitest';
import { operatorOf } from '../../../db/caller.ts';
import { createWebhookStore } from '../../../db/webhooks/webhook-endpoints.ts';
import { buildProject } from '../../support/database/build.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { testKeysText } from '../../support/database/encryption.ts';
import { createTestNamespace } from '../../support/sandbox/namespace.ts';
import { startReceiver } from './receiver.ts';
import { buildWebhook, listDeliveries, testBox } from './webhook-worker.ts';
import { untilBlocked } from '../../support/database/database.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const main = join(import.meta.dirname, '../../../worker/main.ts');

async function createNamespace(address: string): Promise<string> {
  const connection = await Connection.connect({ address });
  try {
    return await createTestNamespace(connection);
  } finally {
    await connection.close();
  }
}

async function startWorker(env: NodeJS.ProcessEnv) {
  const directory = temporaryDirectory();
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env['PATH'], DOCKET_WORK_DIR: directory, ...env },
    stdio: 'ignore',
  });
  const closed = once(child, 'close');
  const kill = async () => {
    child.kill('SIGKILL');
    await closed;
  };
  return {
    kill,
    async [Symbol.asyncDispose]() {
      await kill();
    },
  };
}

async function delivered({ pool }: TestDatabase, webhookId: string) {
  for (;;) {
    const [delivery] = await listDeliveries(pool, webhookId);
    if (delivery?.status === 'delivered') return delivery;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

it(
  'a worker killed between sending and recording a delivery sends it once more, with the same id',
  { tags: 'slow' },
  async () => {
    await using database = await createTestDatabase();
    await using receiver = await startReceiver();
    const env = {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      TEMPORAL_NAMESPACE: await createNamespace(inject('temporalAddress')),
      DOCKET_WEBHOOK_ALLOWED_HOSTS: receiver.host,
      DOCKET_ENCRYPTION_KEYS: testKeysText('test'),
    };
    const project = await buildProject(database.pool);
    const { webhook } = await buildWebhook(database.pool, project, { url: receiver.url });
    const { id } = webhook;

    // delays the record
    const holder = await database.pool.connect();
    await holder.query('begin');
    await holder.query('select from webhook_endpoints where id = $1 for no key update', [id]);
    await createWebhookStore(database.pool, testBox).ping(operatorOf(project), webhook);
    {
      await using worker = await startWorker(env);
      await receiver.until(1);
      await untilBlocked(database);
      await worker.kill();
    }
    await holder.query('rollback');
    holder.release();
    expect(await listDeliveries(database.pool, id)).toMatchObject([{ status: 'pending', attempts: [] }]);

    await using _worker = await startWorker(env);
    const delivery = await delivered(database, id);
    expect(delivery.attempts).toHaveLength(1);
    expect(receiver.received.map((message) => message.id)).toEqual([delivery.messageId, delivery.messageId]);
    expect(receiver.received[1]!.text).toBe(receiver.received[0]!.text);
  },
);
