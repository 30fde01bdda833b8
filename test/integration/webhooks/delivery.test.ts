import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, vi } from 'vitest';
import { createWorkerJobStore } from '../../../db/for-worker/jobs.ts';
import { operatorOf } from '../../../db/caller.ts';
import { createWebhookDeliveryStore } from '../../../db/webhooks/webhook-deliveries.ts';
import { createWebhookStore } from '../../../db/webhooks/webhook-endpoints.ts';
import { presentJob } from '../../../db/jobs/agent-job.ts';
import { createJobBranchStore } from '../../../db/for-worker/job-branches.ts';
import { buildJob, buildProject } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { recordHistory } from '../../support/database/histories.ts';
import { answerWith, startReceiver } from './receiver.ts';
import { startWebhookWorker, testBox } from './webhook-worker.ts';
import { asOperator } from '../../support/stack/operator.ts';
import { blocksOf, checkout } from '../../support/documentation.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

/** A project whose webhook points to a receiver, and a worker that delivers. */
async function scene({ timeoutMs = 15_000 } = {}) {
  await using resources = new AsyncDisposableStack();
  const receiver = resources.use(await startReceiver());
  const worker = resources.use(await startWebhookWorker({ database, allowedHosts: [receiver.host], timeoutMs }));
  const project = await buildProject(database.pool);
  const { webhook, secret } = await worker.createWebhook(project, { url: receiver.url });
  const all = resources.move();
  const ping = async () => worker.ping(webhook);
  return { receiver, worker, project, webhook, secret, ping, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

describe('a delivery', () => {
  it('carries the job as the API shows it, with a signature that the official library accepts', async () => {
    await using at = await scene();
    const job = await buildJob(database.pool, at.project);
    const [message] = await at.receiver.until(1);
    const verified = new Webhook(at.secret).verify(message!.text, message!.headers as Record<string, string>);
    expect(verified).toEqual({ type: 'job.created', timestamp: expect.any(String), data: { job: presentJob(job) } });
    expect(message!.headers['content-type']).toBe('application/json');
    expect(() =>
      new Webhook(at.secret).verify(`${message!.text} `, message!.headers as Record<string, string>),
    ).toThrow('No matching signature');

    const [delivery] = await at.worker.settled(at.webhook);
    expect(delivery).toMatchObject({
      messageId: message!.id,
      type: 'job.created',
      jobId: job.id,
      status: 'delivered',
      error: null,
    });
    expect(delivery!.attempts).toEqual([
      { startedAt: expect.any(Date), durationMs: expect.any(Number), statusCode: 200, response: 'thanks', error: null },
    ]);
  });

  it('is verified by the code of the documentation', async () => {
    await using at = await scene();
    await buildJob(database.pool, at.project);
    const [message] = await at.receiver.until(1);
    const block = blocksOf('docs/webhooks-and-events.md').find(({ language }) => language === 'ts')!;
    const folder = temporaryDirectory();
    await symlink(join(checkout, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'route.ts'), block.text.replace('whsec_…', at.secret));
    const { POST } = (await import(join(folder, 'route.ts'))) as { POST(request: Request): Promise<Response> };
    const requestOf = (body: string) =>
      new Request(at.receiver.url, { method: 'POST', body, headers: message!.headers as Record<string, string> });
    using log = vi.spyOn(console, 'log').mockReturnValue();
    expect((await POST(requestOf(message!.text))).status).toBe(204);
    expect(log.mock.calls).toEqual([[message!.body]]);
    await expect(POST(requestOf(`${message!.text} `))).rejects.toThrow('No matching signature');
  });

  it('reports the end of a job in its final form', async () => {
    await using at = await scene();
    const { id } = await buildJob(database.pool, at.project);
    const jobs = createWorkerJobStore(database.pool);
    await jobs.finish({ jobId: id, turn: 1, status: 'failed', failureCategory: 'step_limit', message: 'Too far.' });
    await asOperator(database.pool).archive(id);
    await at.worker.settled(at.webhook);
    const byType = Object.fromEntries(at.receiver.received.map(({ body }) => [body.type, body.data.job]));
    expect(Object.keys(byType).sort()).toEqual(['job.archived', 'job.created', 'job.failed']);
    expect(byType['job.created'].status).toBe('active');
    expect(byType['job.failed'].details).toMatchObject({ message: 'Too far.', failure: { category: 'step_limit' } });
    expect(byType['job.archived']).toEqual(presentJob((await jobs.get(id))!));
  });

  it('says which pull request was closed or merged, also when it is an earlier one of the job', async () => {
    await using at = await scene();
    const { pool } = database;
    const address = (number: number) => `https://github.com/acme/docs/pull/${number}`;
    const pull = { prId: '8', prLink: address(8), prState: 'open' } as const;
    const { id } = await buildJob(pool, at.project, { status: 'completed', ...pull });
    const idOf = (number: number) => `pr_${id.slice(4)}-${number}`;
    await pool.query(
      `insert into pull_requests (id, repository, number, head, base, title, body, draft, job_id, opened_by, opened_in, link)
       select pull_request_of($1, number::text), 'r', number, 'h' || number, 'main', 't', '', false, $1, $1, number, $2 || number
       from unnest(array[7, 8]) as number`,
      [id, address(0).slice(0, -1)],
    );
    const branches = createJobBranchStore(pool);
    for (const [prId, state] of [
      ['7', 'closed'],
      ['7', 'closed'],
      ['8', 'closed'],
      ['7', 'merged'],
      ['8', 'merged'],
    ] as const)
      await branches.setPullRequestState({ jobId: id, prId, state, draft: false });
    await at.worker.settled(at.webhook);
    const about = at.receiver.received.flatMap(({ body: { type, data } }) => {
      if (data.pullRequest === undefined) return [];
      expect(data.pullRequest).toMatchObject({ draft: false, link: address(data.pullRequest.number) });
      expect(data.pullRequest.id).toBe(idOf(data.pullRequest.number));
      // the job is as the API shows it
      expect(data.job).toMatchObject({ prLink: address(8), details: { pullRequest: { number: 8 } } });
      return [`${type} ${data.pullRequest.number} ${data.pullRequest.state}`];
    });
    expect(about.sort()).toEqual([
      'pull_request.closed 7 closed',
      'pull_request.closed 8 closed',
      'pull_request.merged 7 merged',
      'pull_request.merged 8 merged',
    ]);
  });

  it(
    'is retried with the same id and bytes until it is accepted, later if the receiver asks for it',
    { tags: 'slow' },
    async () => {
      await using at = await scene();
      at.receiver.answers.push(answerWith(500, {}, 'oops'), answerWith(503, { 'retry-after': '2' }));
      await buildJob(database.pool, at.project);
      const [first, second, third] = await at.receiver.until(3);
      expect([second!.id, third!.id]).toEqual([first!.id, first!.id]);
      expect([second!.text, third!.text]).toEqual([first!.text, first!.text]);
      new Webhook(at.secret).verify(third!.text, third!.headers as Record<string, string>);
      const [delivery] = await at.worker.settled(at.webhook);
      expect(delivery!.status).toBe('delivered');
      expect(delivery!.attempts.map(({ statusCode }) => statusCode)).toEqual([200, 503, 500]);
      expect(delivery!.attempts[2]).toMatchObject({
        response: 'oops',
        error: expect.stringContaining('responded with 500'),
      });
      const { rows } = await database.pool.query(
        'select wait_ms::integer as wait from webhook_attempts where delivery_id = $1 order by attempt',
        [delivery!.id],
      );
      expect(rows[0].wait).toBeGreaterThanOrEqual(1_000);
      expect(rows[1].wait).toBeGreaterThanOrEqual(2_000);
      expect(rows[2].wait).toBeNull();
      const handle = at.worker.handleOf(at.webhook, delivery!);
      expect(await handle.result()).toEqual({ attempts: 3 });
      await recordHistory('webhook-retried', handle);
      const history = JSON.stringify(await handle.fetchHistory());
      for (const secret of [at.secret, at.receiver.host, 'Fix the typo', delivery!.jobId!])
        expect(history).not.toContain(secret);
    },
  );

  it('fails permanently after the last attempt, and is sent again on request', { tags: 'slow' }, async () => {
    await using at = await scene();
    at.receiver.answers.push(...Array.from({ length: 4 }, () => answerWith(500)));
    await buildJob(database.pool, at.project);
    const [failed] = await at.worker.settled(at.webhook);
    expect(failed).toMatchObject({ status: 'failed', nextAttemptAt: null, endedAt: expect.any(Date) });
    expect(failed!.attempts).toHaveLength(4);
    await createWebhookDeliveryStore(database.pool).redeliver(operatorOf(at.project), at.webhook, failed!.id);
    const [delivered] = await at.worker.settled(at.webhook);
    expect(delivered).toMatchObject({ id: failed!.id, status: 'delivered' });
    expect(delivered!.attempts).toHaveLength(5);
    expect(new Set(at.receiver.received.map(({ id }) => id))).toEqual(new Set([failed!.messageId]));
  });

  it('ends at once and disables the webhook when the receiver is gone', async () => {
    await using at = await scene();
    at.receiver.answers.push(answerWith(410));
    await at.ping();
    const [delivery] = await at.worker.settled(at.webhook);
    expect(delivery).toMatchObject({ status: 'failed', attempts: [{ statusCode: 410 }] });
    const webhook = await createWebhookStore(database.pool, testBox).find(at.project, at.webhook);
    expect(webhook).toMatchObject({ enabled: false, disabledReason: expect.stringContaining('410') });
    await buildJob(database.pool, at.project);
    expect(await at.worker.deliveriesOf(at.webhook)).toHaveLength(1);
    expect(await at.worker.change(at.webhook, { enabled: true })).toMatchObject({
      enabled: true,
      disabledReason: null,
      failingSince: null,
    });
  });

  it('follows no redirect', async () => {
    await using at = await scene();
    await using other = await startReceiver();
    at.receiver.answers.push(...Array.from({ length: 4 }, () => answerWith(307, { location: other.url })));
    await at.ping();
    const [delivery] = await at.worker.settled(at.webhook);
    expect(delivery!.attempts[0]).toMatchObject({ statusCode: 307, error: expect.stringContaining('not followed') });
    expect(other.received).toEqual([]);
  });

  it('takes an answer with 304 for no redirect', async () => {
    await using at = await scene();
    at.receiver.answers.push(...Array.from({ length: 4 }, () => answerWith(304)));
    await at.ping();
    const [delivery] = await at.worker.settled(at.webhook);
    expect(delivery!.attempts[0]!.error).toBe(
      'The receiver responded with 304; a status from 200 to 299 acknowledges the message.',
    );
  });

  it('is signed with both the old and the new secret after a rotation', async () => {
    await using at = await scene();
    const { id } = at.webhook;
    const rotated = await createWebhookStore(database.pool, testBox).rotateSecret(operatorOf(at.project), at.webhook, {
      overlapMs: 60_000,
    });
    await at.ping();
    const [message] = await at.receiver.until(1);
    const headers = message!.headers as Record<string, string>;
    expect(headers['webhook-signature']!.split(' ')).toHaveLength(2);
    for (const secret of [at.secret, rotated!.secret!]) {
      expect(new Webhook(secret).verify(message!.text, headers)).toEqual({
        type: 'webhook.ping',
        timestamp: expect.any(String),
        data: { webhook: { id } },
      });
    }
    await database.pool.query('update webhook_endpoints set previous_secret_until = now() where id = $1', [id]);
    await at.ping();
    const [, later] = await at.receiver.until(2);
    expect(String(later!.headers['webhook-signature']).split(' ')).toHaveLength(1);
    new Webhook(rotated!.secret!).verify(later!.text, later!.headers as Record<string, string>);
  });

  it('is recorded with the reason when the receiver does not answer in time', async () => {
    await using at = await scene({ timeoutMs: 500 });
    at.receiver.answers.push(() => undefined);
    await at.ping();
    const [delivery] = await at.worker.settled(at.webhook);
    expect(delivery!.attempts.at(-1)).toMatchObject({
      statusCode: null,
      error: expect.stringContaining('did not answer within'),
    });
    expect(delivery!.status).toBe('delivered');
  });

  it('ends when the webhook is disabled meanwhile', async () => {
    await using at = await scene();
    const change = (enabled: boolean) => at.worker.change(at.webhook, { enabled });
    at.receiver.answers.push((response) => void change(false).then(() => answerWith(500)(response)));
    await at.ping();
    const [unsent] = await at.worker.settled(at.webhook);
    expect(unsent).toMatchObject({ status: 'failed' });
    expect(at.receiver.received).toHaveLength(1);
  });
});

describe('secrets of webhooks', () => {
  it('are stored encrypted', async () => {
    await using at = await scene();
    const { rows } = await database.pool.query('select secret from webhook_endpoints where id = $1', [at.webhook.id]);
    expect(rows[0].secret).toMatch(/^enc:v1:test:/);
    expect(at.secret).toMatch(/^whsec_/);
  });
});
