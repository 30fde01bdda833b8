import { expect, it } from 'vitest';
import { createWorkerJobStore } from '../../../db/for-worker/jobs.ts';
import { buildJob, buildProject } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { answerWith, startReceiver } from './receiver.ts';
import { startWebhookWorker } from './webhook-worker.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

it('posts to Slack at a secret address, again after a failure, and keeps the address secret', async () => {
  await using receiver = await startReceiver();
  await using worker = await startWebhookWorker({ database, allowedHosts: [receiver.host] });
  const project = await buildProject(database.pool);
  const secret = '/services/T0/B0/XyZ';
  const { webhook } = await worker.createWebhook(project, {
    format: 'slack',
    url: `http://${receiver.host}${secret}`,
    eventTypes: ['job.failed'],
  });
  receiver.answers.push(answerWith(500, {}, `no such hook: ${secret}`));
  const { id } = await buildJob(database.pool, project);
  const jobs = createWorkerJobStore(database.pool);
  await jobs.finish({ jobId: id, turn: 1, status: 'failed', failureCategory: 'step_limit', message: 'Too far.' });
  const [delivery] = await worker.settled(webhook);
  const [first, second] = receiver.received;
  expect(second!.text).toBe(first!.text);
  expect(first!.body.blocks[0].text.text).toContain(`<https://docket.example.com/jobs/${project.id}/${id}|`);
  expect(Object.keys(first!.headers).filter((name) => name.startsWith('webhook-'))).toEqual([]);
  expect(delivery!.attempts.map(({ response }) => response)).toEqual(['thanks', 'no such hook: /***']);

  expect(webhook.url).toBe(`http://${receiver.host}/***`);
  const stored = await database.pool.query(
    'select to_jsonb(w)::text as text from webhook_endpoints as w union all select to_jsonb(a)::text from webhook_attempts as a',
  );
  expect(stored.rows.filter(({ text }) => text.includes('XyZ'))).toEqual([]);

  const moved = await worker.change(webhook, { url: `http://${receiver.host}/services/T0/B0/Other` });
  expect(moved?.url).toBe(`http://${receiver.host}/***`);
  await worker.ping(webhook);
  await worker.settled(webhook);
  expect(receiver.received.at(-1)).toMatchObject({ path: '/services/T0/B0/Other' });
  expect(receiver.received.map(({ path }) => path).slice(0, 2)).toEqual([secret, secret]);
});
