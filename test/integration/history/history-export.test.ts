import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { beforeAll, expect, it } from 'vitest';
import { createWorkerHistoryStore, type WorkerHistoryStore } from '../../../db/for-worker/job-histories.ts';
import { createHistoryChores, type HistoryChoresDeps } from '../../../worker/chores/history-chores.ts';
import { createClosedExecutionReader } from '../../../worker/chores/history-export.ts';
import { prepareWorkflowBundle } from '../../../worker/workflow-bundle.ts';
import { jobWorkflowId } from '../../../workflows/contract/messages.ts';
import { buildJob, buildKey, buildProject } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { readableHistory, testKeys } from '../../support/database/encryption.ts';
import type { TestRepository } from '../../support/git-repository.ts';
import type { ScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import type { TestWorker } from '../../support/stack/worker.ts';
import { serveApi, type ServedApi } from '../api/serve.ts';
import { asOperator } from '../../support/stack/operator.ts';
import { ofFile } from '../../support/of-file.ts';
import { startJobStack } from '../../support/stack/job-stack.ts';

const log = pino({ level: 'silent' });
const encryptionKeys = testKeys('k1');
const secretPrompt = 'Write one, and mind the pass phrase opensesame-4711';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));
let histories: WorkerHistoryStore;

beforeAll(async () => {
  histories = createWorkerHistoryStore(database.pool);
});

const write = { toolCalls: [{ name: 'write', input: { path: 'one.txt', content: 'one\n' } }] };
const finish = { toolCalls: [{ name: 'finish', input: { title: 'Write one', summary: 'Wrote one.' } }] };

interface Scene {
  worker: TestWorker;
  model: ScriptedModelServer;
  repository: TestRepository;
  exporter(change?: Partial<HistoryChoresDeps>): AsyncDisposable;
  ask(jobId: string, path: string): ReturnType<ServedApi['ask']>;
}

async function scene(work: (scene: Scene) => Promise<void>): Promise<void> {
  await using stack = await startJobStack({ database, encryptionKeys });
  const { repository, model, worker } = stack;
  const readClosedExecution = createClosedExecutionReader({ client: worker.client, encryptionKeys });
  const base = { histories, readClosedExecution, log, keepDays: 0, everyMs: 20, lostAfterMs: 600_000 };
  await work({
    worker,
    model,
    repository,
    exporter: (change) => createHistoryChores({ ...base, ...change }),
    async ask(jobId, path) {
      const job = (await worker.deps.jobs.get(jobId))!;
      const { key } = await buildKey(database.pool, { organizationId: job.organizationId });
      return api.ask(`/v2/agent/${job.projectId}/job/${jobId}${path}`, { key });
    },
  });
}

const stateOf = async (jobId: string, turn = 1) =>
  (await asOperator(database.pool).history({ jobId, turn }))?.state ?? null;
async function untilExported(jobId: string, turn = 1): Promise<void> {
  await expect.poll(() => stateOf(jobId, turn)).toBe('exported');
}

it(
  'stores a history so that it can be read without the keys that encrypted its payloads in Temporal',
  { tags: 'slow' },
  async () => {
    await scene(async ({ worker, model, repository, exporter, ask }) => {
      await using _exporter = exporter();
      model.script({ status: 401 });
      const job = await worker.runJob({ prompt: secretPrompt, repository: repository.path });
      await untilExported(job.id);
      const inEngine = await readableHistory(worker.client.workflow.getHandle(jobWorkflowId(job.id, 1)));
      expect(inEngine).toContain('Encoded failure');
      expect(inEngine).not.toContain('maxSteps');

      const { body } = await ask(job.id, '/history');
      const served = JSON.stringify(body, (_, value) => (value === null ? undefined : value));
      expect(served).toContain('The model provider rejected the request with status 401.');
      for (const words of ['encodedAttributes', 'Encoded failure', 'encryption-key-id'])
        expect(served).not.toContain(words);
      const { input } = body.events[0].workflowExecutionStartedEventAttributes;
      expect(Buffer.from(input.payloads[0].data, 'base64').toString()).toContain('maxSteps');
      await Worker.runReplayHistory({ workflowBundle: { codePath: await prepareWorkflowBundle() } }, body, 'replayed');
    });
  },
);

it('stores the history of each turn and serves it in the format that replayers read', { tags: ['slow'] }, async () => {
  await scene(async ({ worker, model, repository, exporter, ask }) => {
    await using _exporter = exporter();
    model.script(write, finish, { text: 'It is fine.' });
    const job = await worker.runJob({ prompt: secretPrompt, repository: repository.path });
    await worker.followUp(job.id, 'Is it fine?');
    await untilExported(job.id, 1);
    await untilExported(job.id, 2);

    const first = await ask(job.id, '/history?turn=1');
    const newest = await ask(job.id, '/history');
    expect(first).toMatchObject({ status: 200, body: { events: expect.any(Array) } });
    expect(first.body.events.at(-1).eventType).toBe('EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED');
    expect(newest.body.events.length).toBeLessThan(first.body.events.length);
    const workflowBundle = { codePath: await prepareWorkflowBundle() };
    for (const [turn, { body }] of [first, newest].entries())
      await Worker.runReplayHistory({ workflowBundle }, body, jobWorkflowId(job.id, turn + 1));
    for (const { text } of [first, newest]) expect(text).not.toMatch(/opensesame|model-key-0123456789|one\.txt/);
    expect(await ask(job.id, '/history?turn=3')).toMatchObject({ status: 404, body: { error: expect.any(String) } });
    expect(await ask(job.id, '/history?turn=1&run=2')).toMatchObject({ status: 404 });
    expect(await ask(job.id, '/history?turn=x')).toMatchObject({ status: 400 });
  });
});

// Temporal deletes in the background, at its own pace
it('serves it after Temporal has deleted its copy', { tags: 'slow' }, async () => {
  await scene(async ({ worker, model, repository, exporter, ask }) => {
    await using _exporter = exporter();
    model.script(write, { status: 400 });
    const job = await worker.runJob({ prompt: 'Write one', repository: repository.path });
    await untilExported(job.id);
    const { client } = worker;
    const workflowExecution = { workflowId: jobWorkflowId(job.id, 1) };
    await client.workflowService.deleteWorkflowExecution({ namespace: 'default', workflowExecution });
    const handle = client.workflow.getHandle(workflowExecution.workflowId);
    await expect.poll(() => handle.describe().catch(() => null), { timeout: 150_000 }).toBeNull();
    const { status, body } = await ask(job.id, '/history');
    expect(status).toBe(200);
    expect(body.events.at(-1).eventType).toBe('EVENT_TYPE_WORKFLOW_EXECUTION_FAILED');
  });
});

it(
  'reports that a turn is still running, that its history is being exported, or that Temporal has lost it',
  { tags: 'slow' },
  async () => {
    await scene(async ({ worker, model, repository, exporter, ask }) => {
      model.script({ ...write, stall: true }, finish);
      const id = await worker.createJob({ prompt: 'Write one', repository: repository.path });
      await worker.startJob(id);
      expect(await ask(id, '/history')).toMatchObject({
        status: 409,
        body: { error: expect.stringContaining('still running') },
      });
      await model.nextRequest();
      model.release();
      await worker.ended(id);
      const waiting = await ask(id, '/history');
      expect(waiting).toMatchObject({ status: 409, body: { error: expect.stringContaining('in a moment') } });
      expect(waiting.headers.get('retry-after')).toBe('1');

      const lost = await worker.createJob({ prompt: 'Never started', repository: repository.path });
      await worker.deps.jobs.finish({ jobId: lost, turn: 1, status: 'failed', failureCategory: 'cancelled' });
      {
        // two exporters at once compete for the row, and this one postpones it
        await using _patient = exporter();
        await untilExported(id);
        expect(await stateOf(lost)).toBe('waiting');
      }
      await using _sure = exporter({ lostAfterMs: 0 });
      await expect.poll(() => stateOf(lost)).toBe('lost');
      expect(await ask(lost, '/history')).toMatchObject({
        status: 404,
        body: { error: expect.stringContaining('never started') },
      });
    });
  },
);

it(
  'exports a history again when the worker that claimed it is gone, and stores it once',
  { tags: 'slow' },
  async () => {
    await scene(async ({ worker, model, repository, exporter, ask }) => {
      model.script(write, finish);
      const job = await worker.runJob({ prompt: 'Write one', repository: repository.path });
      // a worker that is killed between the fetch and the end of its transaction leaves only its claim
      const claim = { limit: 10, leaseMs: 600_000 };
      await expect.poll(() => histories.claimDue(claim)).toHaveLength(1);
      expect(await histories.claimDue(claim)).toEqual([]);
      await database.pool.query('update job_history_exports set next_attempt_at = now() where job_id = $1', [job.id]);
      const tried = Promise.withResolvers<void>();
      const broken = {
        ...histories,
        store() {
          tried.resolve();
          return Promise.reject(new Error('The connection was cut.'));
        },
      };
      {
        // at the same time as the others it would compete with them for the row
        await using _broken = exporter({ histories: broken, leaseMs: 50 });
        await tried.promise;
      }
      await using _first = exporter({ leaseMs: 50 });
      await using _second = exporter({ leaseMs: 50 });
      await untilExported(job.id);
      await delay(100);
      expect((await asOperator(database.pool).history({ jobId: job.id, turn: 1 }))?.runs).toBe(1);
      expect((await ask(job.id, '/history')).status).toBe(200);
    });
  },
);

it('removes events and histories of jobs that were archived long ago, in batches', async () => {
  const project = await buildProject(database.pool);
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
  const old = [];
  for (let index = 0; index < 3; index += 1) {
    const job = await buildJob(database.pool, project, { status: 'archived', archivedAt: ago(91) });
    await database.pool.query(`update job_turns set status = 'failed' where job_id = $1`, [job.id]);
    await database.pool.query("update jobs set base_commit = 'b' where id = $1", [job.id]);
    await database.pool.query("insert into job_steps (job_id, turn, step, tree) values ($1, 1, 1, 't')", [job.id]);
    await database.pool.query(
      `insert into job_snapshots (job_id, tree, commit, base_commit, pack, patch, changed_files, additions, deletions)
       values ($1, 't', 'c', 'b', 'pack', '+paint', 1, 1, 0)`,
      [job.id],
    );
    old.push(job.id);
  }
  const young = await buildJob(database.pool, project, { status: 'archived', archivedAt: ago(89) });
  expect(await histories.removeOld({ days: 90, limit: 2 })).toBe(2);
  expect(await histories.removeOld({ days: 90, limit: 2 })).toBe(1);
  expect(await histories.removeOld({ days: 90, limit: 2 })).toBe(0);
  const { rows } = await database.pool.query<{ jobId: string }>(
    'select distinct job_id as "jobId" from job_events where job_id = any($1)',
    [[...old, young.id]],
  );
  expect(rows).toEqual([{ jobId: young.id }]);
  expect(await stateOf(old[0]!)).toBe('removed');
  const { key } = await buildKey(database.pool, { organizationId: project.organizationId });
  // the files are kept as long as the steps
  expect((await api.ask(`/v2/agent/${project.id}/job/${old[0]!}/diff`, { key })).text).toBe('+paint');
  const gone = await api.ask(`/v2/agent/${project.id}/job/${old[0]!}/history`, { key });
  expect(gone).toMatchObject({ status: 404, body: { error: expect.stringContaining('after the job was archived') } });
});
