import { describe, expect, it } from 'vitest';
import { createIdleEndings } from '../../../db/for-worker/idle-endings.ts';
import type { JobRow } from '../../../db/jobs/jobs.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { recordHistory } from '../../support/database/histories.ts';
import { asOperator } from '../../support/stack/operator.ts';
import { startScriptedModelServer, type ScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import type { ScriptedReply } from '../../support/servers/scripted-model-wire.ts';
import { startTestWorker, type TestWorker } from '../../support/stack/worker.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

interface Scene {
  model: ScriptedModelServer;
  worker: TestWorker;
  operator: ReturnType<typeof asOperator>;
  /** The job after a turn that only planned. */
  planned: JobRow;
  eventTypes(): Promise<string[]>;
}

const plan: ScriptedReply = {
  toolCalls: [{ name: 'finish', input: { title: 'Add a license', summary: '1. Write `LICENSE`.' } }],
};
const work: ScriptedReply[] = [
  { toolCalls: [{ name: 'write', input: { path: 'LICENSE', content: 'MIT\n' } }] },
  { toolCalls: [{ name: 'finish', input: { title: 'Add the license', summary: 'Wrote it.' } }] },
];

async function scene(act: (scene: Scene) => Promise<void>, first: ScriptedReply[] = [plan]): Promise<void> {
  await using model = await startScriptedModelServer();
  await using repository = await createTestRepository();
  await using worker = await startTestWorker({ database, modelUrl: model.baseUrl });
  model.script(...first);
  const planned = await worker.runJob({ prompt: 'Add a license', repository: repository.path, planReview: true });
  const operator = asOperator(database.pool);
  await act({
    model,
    worker,
    operator,
    planned,
    eventTypes: async () => (await operator.events(planned.id)).events.map(({ type }) => type),
  });
  expect(model.violations).toEqual([]);
}

describe('a job whose plan is reviewed', () => {
  it('waits with its plan, without an execution, and carries it out once approved', { tags: 'slow' }, async () => {
    await scene(async ({ model, worker, operator, planned, eventTypes }) => {
      expect(planned).toMatchObject({
        status: 'active',
        phase: 'waiting',
        plan: '1. Write `LICENSE`.',
        title: 'Add a license',
        question: null,
        prLink: null,
        branch: null,
      });
      expect(planned.waitUntil!.getTime() - planned.waitSince!.getTime()).toBe(7 * 86_400_000);
      const execution = worker.client.workflow.getHandle(`agent-job/${planned.id}`);
      expect((await execution.describe()).status.name).toBe('COMPLETED');
      await recordHistory('waiting', execution);
      expect((await eventTypes()).slice(-2)).toEqual(['phase', 'waiting']);
      const offered = model.requests[0]!.body.tools!.map(({ function: { name } }) => name);
      expect(offered.toSorted()).toEqual([
        'blame',
        'diff',
        'finish',
        'glob',
        'grep',
        'list',
        'log',
        'read',
        'show',
        'todo',
      ]);

      model.script(...work);
      const approved = await operator.approve({ jobId: planned.id, text: 'Use MIT.', turn: 1 });
      expect(approved).toMatchObject({ kind: 'decided', job: { phase: 'queued', turn: 2, approvedTurn: 2 } });
      await worker.startJob(planned.id, {}, 2);
      const done = await worker.ended(planned.id, 2);
      expect(done).toMatchObject({ status: 'completed', title: 'Add the license', plan: '1. Write `LICENSE`.' });
      expect(done.prLink).not.toBeNull();
      expect(await operator.latestPatch(done.id)).toContain('+MIT');
      expect(JSON.stringify(model.requests[1]!.body.messages)).toContain('Use MIT.');
      expect(model.requests[1]!.body.tools!.map(({ function: { name } }) => name)).toContain('write');
    });
  });

  it('refuses tools that change files while it plans', { tags: 'slow' }, async () => {
    const forbidden: ScriptedReply = {
      toolCalls: [
        { name: 'write', input: { path: 'LICENSE', content: 'MIT\n' } },
        { name: 'run', input: { command: 'touch LICENSE' } },
      ],
    };
    await scene(
      async ({ worker, operator, planned }) => {
        const [step] = await worker.deps.steps.list(planned.id, 1);
        expect(step!.toolResults!.map(({ isError }) => isError)).toEqual([true, true]);
        expect(await operator.latestPatch(planned.id)).toBeNull();
      },
      [forbidden, plan],
    );
  });

  it('plans again after a message, and refuses the approval of the older plan', { tags: 'slow' }, async () => {
    await scene(async ({ model, worker, operator, planned }) => {
      model.script({ toolCalls: [{ name: 'finish', input: { title: 'Other', summary: '1. Write `COPYING`.' } }] });
      const revised = await worker.followUp(planned.id, 'Call it COPYING.');
      expect(revised).toMatchObject({ phase: 'waiting', turn: 2, plan: '1. Write `COPYING`.' });
      expect(await operator.approve({ jobId: planned.id, text: null, turn: 1 })).toEqual({ kind: 'outdated' });
      expect(await operator.approve({ jobId: planned.id, text: null, turn: 2 })).toMatchObject({ kind: 'decided' });
    });
  });

  it('takes each decision once', { tags: 'slow' }, async () => {
    await scene(async ({ worker, operator, planned }) => {
      const decision = { jobId: planned.id, text: null };
      const both = await Promise.all([operator.approve(decision), operator.approve(decision)]);
      expect(both.map(({ kind }) => kind).toSorted()).toEqual(['decided', 'repeated']);
      expect(await operator.approve({ ...decision, text: 'But faster.' })).toEqual({ kind: 'decided-otherwise' });
      expect(await operator.reject(decision)).toEqual({ kind: 'decided-otherwise' });
      const { rows } = await database.pool.query('select turn from job_outbox where job_id = $1', [planned.id]);
      expect(rows.filter(({ turn }) => turn === 2)).toHaveLength(1);
      expect(await worker.deps.jobs.get(planned.id)).toMatchObject({ turn: 2, phase: 'queued' });
    });
  });

  it('ends when it is rejected, and plans again after a message', { tags: 'slow' }, async () => {
    await scene(async ({ model, worker, operator, planned, eventTypes }) => {
      const decision = { jobId: planned.id, text: 'Not now.' };
      expect(await operator.reject(decision)).toMatchObject({
        kind: 'decided',
        job: { status: 'failed', failureCategory: 'plan_rejected', message: 'The plan was rejected: Not now.' },
      });
      expect((await eventTypes()).at(-1)).toBe('failure');
      expect(await operator.reject(decision)).toMatchObject({ kind: 'repeated' });
      expect(await operator.approve(decision)).toEqual({ kind: 'rejected' });
      model.script(plan);
      expect(await worker.followUp(planned.id, 'Now.')).toMatchObject({ phase: 'waiting', turn: 2 });
    });
  });

  it('ends at its deadline and when it is cancelled', { tags: 'slow' }, async () => {
    await scene(async ({ worker, operator, planned }) => {
      const endings = createIdleEndings(database.pool);
      expect(await endings.endWaits({ limit: 10 })).toBe(0);
      await database.pool.query(`update jobs set wait_until = now() - interval '1 second' where id = $1`, [planned.id]);
      expect(await endings.endWaits({ limit: 10 })).toBe(1);
      expect(await worker.deps.jobs.get(planned.id)).toMatchObject({
        status: 'failed',
        failureCategory: 'wait_expired',
      });
      expect(await operator.approve({ jobId: planned.id, text: null })).toEqual({ kind: 'ended' });
    });
    await scene(async ({ operator, planned }) => {
      expect(await operator.cancel(planned.id)).toMatchObject({ failureCategory: 'cancelled', phase: null });
      expect(await operator.approve({ jobId: planned.id, text: null })).toEqual({ kind: 'ended' });
    });
  });

  it('changes nothing for a late write of an earlier attempt', { tags: 'slow' }, async () => {
    await scene(async ({ worker, planned }) => {
      const ref = { jobId: planned.id, turn: 1 };
      expect(await worker.deps.jobs.setPhase({ ...ref, phase: 'running' })).toBe(false);
      const failed = { ...ref, status: 'failed', failureCategory: 'internal' } as const;
      expect(await worker.deps.jobs.finish(failed)).toBe(false);
      expect(await worker.deps.idleJobs.endedTurns([ref])).toEqual([ref]);
      expect(await worker.deps.jobs.get(planned.id)).toMatchObject({ status: 'active', phase: 'waiting' });
    });
  });
});
