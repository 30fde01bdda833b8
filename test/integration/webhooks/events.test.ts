import type { Pool } from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { createJobBranchStore } from '../../../db/for-worker/job-branches.ts';
import { createIdleEndings } from '../../../db/for-worker/idle-endings.ts';
import { createJobStore } from '../../../db/jobs/jobs.ts';
import type { ProjectRow } from '../../../db/organizations/projects.ts';
import { createWorkerJobStore } from '../../../db/for-worker/jobs.ts';
import { createWebhookAttemptStore } from '../../../db/for-worker/webhooks/webhook-attempts.ts';
import { operatorOf } from '../../../db/caller.ts';
import { createWebhookStarts } from '../../../db/for-worker/webhooks/webhook-starts.ts';
import { createWebhookStore, maxWebhooks } from '../../../db/webhooks/webhook-endpoints.ts';
import { presentJob } from '../../../db/jobs/agent-job.ts';
import { buildJob, buildProject } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { buildWebhook, listDeliveries, testBox } from './webhook-worker.ts';
import { untilBlocked } from '../../support/database/database.ts';
import { asOperator } from '../../support/stack/operator.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
let pool: Pool;
beforeAll(async () => {
  pool = database.pool;
});

async function watchedProject(eventTypes: string[] = []): Promise<{ project: ProjectRow; webhookId: string }> {
  const project = await buildProject(pool);
  const { webhook } = await buildWebhook(pool, project, { eventTypes });
  return { project, webhookId: webhook.id };
}

async function typesOf(webhookId: string): Promise<string[]> {
  return (await listDeliveries(pool, webhookId)).map(({ type }) => type).toReversed();
}

const finish = (jobId: string, status: 'completed' | 'failed', turn = 1) =>
  createWorkerJobStore(pool).finish({ jobId, turn, status, failureCategory: status === 'failed' ? 'internal' : null });

describe('an event of a job is sent once', () => {
  it('when it is created, even if the request is repeated', async () => {
    const { project, webhookId } = await watchedProject();
    const idempotency = { key: 'k', requestHash: 'h' };
    const job = await buildJob(pool, project, { idempotency });
    await createJobStore(pool).create(operatorOf(project), { ...job, prompt: 'x', idempotency });
    expect(await typesOf(webhookId)).toEqual(['job.created']);
  });

  it('when a turn completes or fails, even if its end is stored again', async () => {
    const { project, webhookId } = await watchedProject(['job.completed', 'job.failed']);
    const [good, bad] = [await buildJob(pool, project), await buildJob(pool, project)];
    for (let round = 0; round < 2; round += 1) {
      await finish(good.id, 'completed');
      await finish(bad.id, 'failed');
      await finish(bad.id, 'completed');
    }
    expect(await typesOf(webhookId)).toEqual(['job.completed', 'job.failed']);
  });

  it('when a person cancels, messages, archives and unarchives it, however often they ask', async () => {
    const { project, webhookId } = await watchedProject();
    const { id } = await buildJob(pool, project);
    const operator = asOperator(pool);
    await operator.send({ jobId: id, prompt: 'While it is active.', idempotency: null });
    await operator.cancel(id);
    await operator.cancel(id);
    await operator.send({ jobId: id, prompt: 'Go on.', idempotency: { key: 'k', requestHash: 'h' } });
    await operator.send({ jobId: id, prompt: 'Go on.', idempotency: { key: 'k', requestHash: 'h' } });
    await finish(id, 'completed', 2);
    await operator.archive(id);
    await operator.archive(id);
    await operator.unarchive(id);
    await operator.unarchive(id);
    expect(await typesOf(webhookId)).toEqual([
      'job.created',
      'job.failed',
      'job.resumed',
      'job.completed',
      'job.archived',
      'job.unarchived',
    ]);
  });

  it('when its plan waits for a person, and when the plan is approved', async () => {
    const { project, webhookId } = await watchedProject();
    const { id } = await buildJob(pool, project, { planReview: true });
    const wait = { jobId: id, turn: 1, title: null, plan: 'The plan.', question: null, days: 7 };
    expect(await createWorkerJobStore(pool).wait(wait)).toBe(true);
    expect(await createWorkerJobStore(pool).wait(wait)).toBe(false);
    const waiting = (await listDeliveries(pool, webhookId)).find(({ type }) => type === 'job.waiting')!;
    const told = presentJob((await createWebhookAttemptStore(pool, testBox).jobOf(waiting.messageId))!);
    // the operator at the command line, who has no name
    expect(told.details.waiting).toMatchObject({ for: 'approval', startedBy: { name: null, keyId: null } });
    const operator = asOperator(pool);
    await operator.approve({ jobId: id, text: null });
    await operator.approve({ jobId: id, text: null });
    expect(await typesOf(webhookId)).toEqual(['job.created', 'job.waiting', 'job.resumed']);
  });

  it('when the daily schedule archives many', async () => {
    const { project, webhookId } = await watchedProject(['job.archived']);
    const jobs = [await buildJob(pool, project), await buildJob(pool, project), await buildJob(pool, project)];
    for (const { id } of jobs) await finish(id, 'completed');
    await pool.query(`update jobs set ended_at = now() - interval '31 days' where project_id = $1`, [project.id]);
    await createIdleEndings(pool).archiveIdle({ idleDays: 30, limit: 500 });
    await createIdleEndings(pool).archiveIdle({ idleDays: 30, limit: 500 });
    expect(await typesOf(webhookId)).toEqual(['job.archived', 'job.archived', 'job.archived']);
  });

  it('when its pull request is closed or merged, however often this is noticed', async () => {
    const { project, webhookId } = await watchedProject(['pull_request.closed', 'pull_request.merged']);
    const { id } = await buildJob(pool, project, {
      prId: '7',
      prLink: 'https://github.com/acme/docs/pull/7',
      prState: 'open',
    });
    const branches = createJobBranchStore(pool);
    for (const state of ['open', 'closed', 'closed', 'open', 'merged', 'merged', 'open', 'merged'] as const) {
      await branches.setPullRequestState({ jobId: id, prId: '7', state, draft: false });
    }
    expect(await typesOf(webhookId)).toEqual(['pull_request.closed', 'pull_request.merged']);
  });

  it('with the change or not at all', async () => {
    const { project, webhookId } = await watchedProject();
    const { id } = await buildJob(pool, project);
    const client = await pool.connect();
    await client.query('begin');
    await client.query(`update jobs set status = 'completed' where id = $1`, [id]);
    await client.query('rollback');
    client.release();
    expect(await typesOf(webhookId)).toEqual(['job.created']);
  });

  it('to enabled webhooks of its own project that subscribe to it; without one, nothing is written', async () => {
    const { project, webhookId } = await watchedProject();
    const other = await watchedProject();
    const disabled = await buildWebhook(pool, project, {});
    await createWebhookStore(pool, testBox).update(operatorOf(project), disabled.webhook, { enabled: false });
    const choosy = await buildWebhook(pool, project, { eventTypes: ['job.failed'] });
    await buildJob(pool, project);
    const unheard = await buildProject(pool);
    await buildJob(pool, unheard);
    expect(await typesOf(webhookId)).toEqual(['job.created']);
    expect(await typesOf(other.webhookId)).toEqual([]);
    expect(await typesOf(disabled.webhook.id)).toEqual([]);
    expect(await typesOf(choosy.webhook.id)).toEqual([]);
    const { rows } = await pool.query('select from webhook_messages where project_id = $1', [unheard.id]);
    expect(rows).toEqual([]);
  });

  it('with the job as it was at the time, and without what is not public', async () => {
    const { project, webhookId } = await watchedProject();
    const { id } = await buildJob(pool, project, {
      idempotency: { key: 'secret-key', requestHash: 'h' },
      inputTokens: 12,
    });
    await createWorkerJobStore(pool).setPhase({ jobId: id, turn: 1, phase: 'running' });
    await finish(id, 'failed');
    const then = presentJob((await createWorkerJobStore(pool).get(id))!);
    await asOperator(pool).send({ jobId: id, prompt: 'On.', idempotency: null });
    const failed = (await listDeliveries(pool, webhookId)).find(({ type }) => type === 'job.failed')!;
    expect(presentJob((await createWebhookAttemptStore(pool, testBox).jobOf(failed.messageId))!)).toEqual(then);
    const { rows } = await pool.query('select job from webhook_messages where project_id = $1', [project.id]);
    expect(JSON.stringify(rows)).not.toContain('secret-key');
  });

  it('to no one, without a failure, if the webhook is deleted at the same moment', async () => {
    const { project, webhookId } = await watchedProject();
    const { id } = await buildJob(pool, project);
    const client = await pool.connect();
    await client.query('begin');
    await client.query('delete from webhook_endpoints where id = $1', [webhookId]);
    const ended = finish(id, 'completed');
    await untilBlocked(database);
    await client.query('commit');
    client.release();
    expect(await ended).toBe(true);
  });
});

describe('a stored delivery', () => {
  it('is removed after 30 days, unless it is still in progress', async () => {
    const { project, webhookId } = await watchedProject();
    await buildJob(pool, project);
    await buildJob(pool, project);
    const deliveries = createWebhookStarts(pool);
    await pool.query(`update webhook_messages set created_at = now() - interval '31 days' where project_id = $1`, [
      project.id,
    ]);
    const [first] = await listDeliveries(pool, webhookId);
    await pool.query(`update webhook_deliveries set status = 'delivered' where id = $1`, [first!.id]);
    expect(await deliveries.sweep({ days: 30, limit: 10 })).toBe(1);
    expect((await listDeliveries(pool, webhookId)).map(({ id }) => id)).not.toContain(first!.id);
  });

  it('is restarted by one process when its execution is gone', async () => {
    const { project, webhookId } = await watchedProject();
    await buildJob(pool, project);
    const deliveries = createWebhookStarts(pool);
    const mine = async () =>
      (await deliveries.claimStarts({ limit: 100, leaseMs: 60_000 })).filter((start) => start.webhookId === webhookId);
    const [[start], rest] = [await mine(), await mine()];
    expect([start!.round, rest]).toEqual([1, []]);
    await deliveries.confirmStart(start!);
    expect(await deliveries.restartLost({ overdueMs: 60_000, limit: 10 })).toBe(0);
    await pool.query(
      `update webhook_deliveries set next_attempt_at = now() - interval '2 hours' where endpoint_id = $1`,
      [webhookId],
    );
    expect(await deliveries.restartLost({ overdueMs: 3_600_000, limit: 10 })).toBe(1);
    expect((await mine()).map(({ round }) => round)).toEqual([2]);
    const opened = await createWebhookAttemptStore(pool, testBox).open({ ...start!, attempt: 2 });
    expect(opened).toEqual({ kind: 'over' });
  });

  it('is restarted in batches, the longest overdue first', async () => {
    const { project, webhookId } = await watchedProject();
    for (let job = 0; job < 3; job += 1) await buildJob(pool, project);
    const ids = (await listDeliveries(pool, webhookId)).map(({ id }) => id);
    await pool.query(
      `update webhook_deliveries set start_at = null, next_attempt_at = now() - (9 - array_position($1, id)) * interval '2 hours'
       where id = any($1)`,
      [ids],
    );
    const starting = `select id from webhook_deliveries where start_at is not null and id = any($1) order by array_position($1, id)`;
    for (const batch of [2, 1]) {
      expect(await createWebhookStarts(pool).restartLost({ overdueMs: 3_600_000, limit: 2 })).toBe(batch);
      const { rows } = await pool.query(starting, [ids]);
      expect(rows.map(({ id }) => id)).toEqual(batch === 2 ? ids.slice(0, 2) : ids);
    }
  });
});

describe('a webhook that fails', () => {
  async function failingSince(days: number, lastFailedDaysAgo: number) {
    const { project, webhookId } = await watchedProject();
    await buildJob(pool, project);
    const [delivery] = await listDeliveries(pool, webhookId);
    await pool.query(
      `update webhook_endpoints set failing_since = now() - $2::integer * interval '1 day',
       last_failed_at = now() - $3::integer * interval '1 day' where id = $1`,
      [webhookId, days, lastFailedDaysAgo],
    );
    const ref = { deliveryId: delivery!.id, round: 1, attempt: 1 };
    const result = {
      durationMs: 1,
      statusCode: 500,
      response: null,
      error: 'x',
      verdict: 'failed',
      waitMs: 1_000,
    } as const;
    const attempts = createWebhookAttemptStore(pool, testBox);
    const recorded = await attempts.record(ref, result);
    expect(await attempts.record(ref, { ...result, verdict: 'delivered' })).toEqual(recorded);
    return {
      recorded,
      webhook: (await createWebhookStore(pool, testBox).find(project, { projectId: project.id, id: webhookId }))!,
      delivery: (await listDeliveries(pool, webhookId)).find(({ id }) => id === delivery!.id)!,
    };
  }

  it('for five days in a row is disabled, with a reason', async () => {
    const { recorded, webhook, delivery } = await failingSince(5, 1);
    expect(recorded).toEqual({ waitMs: null });
    expect(webhook).toMatchObject({ enabled: false, disabledReason: expect.stringContaining('5 days') });
    expect(delivery).toMatchObject({ status: 'failed', attempts: [{ statusCode: 500 }] });
  });

  it('for less is retried', async () => {
    const { recorded, webhook, delivery } = await failingSince(4, 1);
    expect(recorded).toEqual({ waitMs: 1_000 });
    expect(webhook).toMatchObject({ enabled: true, disabledReason: null });
    expect(delivery).toMatchObject({ status: 'pending', attempts: [{ statusCode: 500 }] });
  });

  it('again after two quiet days starts a new failure streak', async () => {
    const { webhook } = await failingSince(9, 3);
    expect(webhook.enabled).toBe(true);
    expect(Date.now() - webhook.failingSince!.getTime()).toBeLessThan(60_000);
  });
});

describe('the webhooks of a project', () => {
  it(`are at most ${maxWebhooks}, even if many are created at once`, async () => {
    const project = await buildProject(pool);
    const made = await Promise.all(
      Array.from({ length: maxWebhooks + 5 }, () =>
        createWebhookStore(pool, testBox).create(operatorOf(project), project.id, {
          url: 'https://a.example',
          description: null,
          eventTypes: [],
        }),
      ),
    );
    expect(made.filter((one) => one !== 'too-many')).toHaveLength(maxWebhooks);
    expect(await createWebhookStore(pool, testBox).list(project, project.id)).toHaveLength(maxWebhooks);
  });
});
