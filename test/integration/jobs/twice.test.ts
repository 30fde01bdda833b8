import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWorkerPullRequestStore } from '../../../db/for-worker/pull-requests.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { startScriptedModelServer } from '../../support/scripted-model-server.ts';
import { startTestWorker } from '../../support/worker.ts';
import { writing } from '../../support/writing-script.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

/** Lets a call take effect and then loses its answer, the first time. */
function losingFirstAnswer<Arguments extends unknown[], Result>(work: (...values: Arguments) => Promise<Result>) {
  let isFirst = true;
  return async (...values: Arguments): Promise<Result> => {
    const result = await work(...values);
    if (!isFirst) return result;
    isFirst = false;
    throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET', syscall: 'read' });
  };
}

describe('an attempt that dies', () => {
  it('after the answer was stored does not ask the model again', async () => {
    await using repository = await createTestRepository();
    await using model = await startScriptedModelServer();
    model.script(...writing);
    await using worker = await startTestWorker({
      database,
      modelUrl: model.baseUrl,
      change: ({ steps }) => ({ steps: { ...steps, storeResponse: losingFirstAnswer(steps.storeResponse) } }),
    });
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    expect(job).toMatchObject({ status: 'completed', steps: 2 });
    expect(model.requests).toHaveLength(2);
    expect(model.violations).toEqual([]);
  });

  it('after the results were stored does not run the tools again', async () => {
    await using repository = await createTestRepository();
    await using model = await startScriptedModelServer();
    model.script(...writing);
    const opened: string[] = [];
    await using worker = await startTestWorker({
      database,
      modelUrl: model.baseUrl,
      change: ({ steps, workspaces }) => ({
        steps: { ...steps, storeResults: losingFirstAnswer(steps.storeResults) },
        workspaces: {
          ...workspaces,
          open(request) {
            opened.push(request.snapshot?.tree ?? 'base');
            return workspaces.open(request);
          },
        },
      }),
    });
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    expect(job.status).toBe('completed');
    expect(opened).toEqual(['base', 'base', job.headTree]);
  });

  it('before the results were stored begins with the tree before the batch', async () => {
    await using repository = await createTestRepository({ 'a.txt': 'one\n' });
    await using model = await startScriptedModelServer();
    const create = { toolCalls: [{ name: 'move', input: { from: 'a.txt', to: 'b.txt' } }] };
    model.script(create, writing[1]!);
    await using worker = await startTestWorker({
      database,
      modelUrl: model.baseUrl,
      change: ({ workspaces }) => ({
        workspaces: { ...workspaces, snapshot: losingFirstAnswer(workspaces.snapshot) },
      }),
    });
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    expect(await repository.read(job.headCommit!)).toEqual({ 'b.txt': '100644 one' });
  });

  it.each(['publish', 'ensurePullRequest', 'setPublished'] as const)(
    'after %s leaves one branch and one pull request',
    async (call) => {
      await using repository = await createTestRepository();
      await using model = await startScriptedModelServer();
      model.script(...writing);
      await using worker = await startTestWorker({
        database,
        modelUrl: model.baseUrl,
        change({ workspaces, forges, jobs }) {
          if (call === 'publish')
            return { workspaces: { ...workspaces, publish: losingFirstAnswer(workspaces.publish) } };
          if (call === 'setPublished') return { jobs: { ...jobs, setPublished: losingFirstAnswer(jobs.setPublished) } };
          const forge = forges.forProject({ forge: 'local', forgeUrl: null, repository: '' }, { refusal: () => null });
          const losing = { ...forge, ensurePullRequest: losingFirstAnswer(forge.ensurePullRequest) };
          return { forges: { ...forges, forProject: () => losing } };
        },
      });
      const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
      expect(job.status).toBe('completed');
      const { rows } = await database.pool.query('select id from pull_requests where repository = $1', [
        repository.path,
      ]);
      expect(rows).toEqual([{ id: job.prId }]);
      expect(await repository.git('for-each-ref', '--format=%(refname)', 'refs/heads/docket')).toBe(
        `refs/heads/${job.branch}`,
      );
    },
  );
});

describe('an attempt that was overtaken', () => {
  it('asks the model nothing; the newer one does', async () => {
    await using repository = await createTestRepository();
    await using model = await startScriptedModelServer();
    model.script(...writing);
    const askedBefore: number[] = [];
    await using worker = await startTestWorker({
      database,
      modelUrl: model.baseUrl,
      change: ({ steps }) => ({
        steps: {
          ...steps,
          async claimAnswer(ref) {
            askedBefore.push(model.requests.length);
            const claimed = await steps.claimAnswer(ref);
            if (askedBefore.length === 1) await steps.claimAnswer(ref);
            return claimed;
          },
        },
      }),
    });
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    expect(job).toMatchObject({ status: 'completed', steps: 2 });
    expect(askedBefore).toEqual([0, 0, 1]);
  });

  it('pushes nothing and opens no pull request; the newer one does', async () => {
    await using repository = await createTestRepository();
    await using model = await startScriptedModelServer();
    model.script(...writing);
    const seen: string[] = [];
    let overtaken = 0;
    await using worker = await startTestWorker({
      database,
      modelUrl: model.baseUrl,
      change: ({ workspaces, forges, effects }) => ({
        workspaces: {
          ...workspaces,
          async publish(request) {
            overtaken += 1;
            if (overtaken === 1) await effects.claim({ jobId: request.jobId, turn: 1, effect: 'push' });
            try {
              return await workspaces.publish(request);
            } finally {
              seen.push(await repository.git('for-each-ref', '--format=%(refname)', 'refs/heads/docket'));
            }
          },
        },
        forges: {
          ...forges,
          forProject: (project, use) => ({
            ...forges.forProject(project, use),
            async ensurePullRequest(request) {
              const jobId = /job_\w+/.exec(request.head)![0].split('-')[0]!;
              overtaken += 1;
              if (overtaken === 3) await effects.claim({ jobId, turn: 1, effect: 'pull-request' });
              try {
                return await forges.forProject(project, use).ensurePullRequest(request);
              } finally {
                const found = await createWorkerPullRequestStore(database.pool).findByHead(
                  request.repository,
                  request.head,
                );
                seen.push(String(found?.head));
              }
            },
          }),
        },
      }),
    });
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    expect(job.status).toBe('completed');
    expect(seen).toEqual(['', `refs/heads/${job.branch}`, 'undefined', job.branch]);
  });

  it('pushes nothing once the job has ended', async () => {
    await using repository = await createTestRepository();
    await using model = await startScriptedModelServer();
    model.script(...writing);
    await using worker = await startTestWorker({
      database,
      modelUrl: model.baseUrl,
      change: ({ workspaces, jobs }) => ({
        workspaces: {
          ...workspaces,
          async publish(request) {
            await jobs.finish({ jobId: request.jobId, turn: 1, status: 'failed', failureCategory: 'cancelled' });
            return workspaces.publish(request);
          },
        },
      }),
    });
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'cancelled', prLink: null });
    expect(await repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  });
});
