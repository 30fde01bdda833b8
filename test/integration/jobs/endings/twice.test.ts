import { describe, expect, it } from 'vitest';
import { createWorkerPullRequestStore } from '../../../../db/for-worker/pull-requests.ts';
import { claimAnswer } from '../../../support/database/claim-answer.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { createTestRepository } from '../../../support/git-repository.ts';
import { asOperator } from '../../../support/stack/operator.ts';
import { startScriptedModelServer } from '../../../support/servers/scripted-model-server.ts';
import { startTestWorker } from '../../../support/stack/worker.ts';
import { writing } from '../../../support/writing-script.ts';
import { ofFile } from '../../../support/of-file.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

/** Lets a call take effect and then loses its response, the first time. */
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
  it('after the answer was stored does not call the model again', async () => {
    await using stack = await startJobStack({
      database,
      change: ({ steps }) => ({ steps: { ...steps, storeResponse: losingFirstAnswer(steps.storeResponse) } }),
    });
    const { repository, model, worker } = stack;
    model.script(...writing);
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    expect(job).toMatchObject({ status: 'completed', steps: 2 });
    expect(model.requests).toHaveLength(2);
    expect(model.violations).toEqual([]);
  });

  it('after the results were stored does not run the tools again', async () => {
    const opened: string[] = [];
    await using stack = await startJobStack({
      database,
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
    const { repository, model, worker } = stack;
    model.script(...writing);
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    expect(job.status).toBe('completed');
    expect(opened).toEqual(['base', 'base', job.headTree]);
  });

  it('before the results were stored starts over from the tree before the batch', async () => {
    const create = { toolCalls: [{ name: 'move', input: { from: 'a.txt', to: 'b.txt' } }] };
    await using stack = await startJobStack({
      database,
      files: { 'a.txt': 'one\n' },
      change: ({ workspaces }) => ({
        workspaces: { ...workspaces, snapshot: losingFirstAnswer(workspaces.snapshot) },
      }),
    });
    const { repository, model, worker } = stack;
    model.script(create, writing[1]!);
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    expect(await repository.read(job.headCommit!)).toEqual({ 'b.txt': '100644 one' });
  });

  async function expectOnePullRequest(call: 'publish' | 'ensurePullRequest' | 'setPublished'): Promise<void> {
    await using stack = await startJobStack({
      database,
      change({ workspaces, forges, jobs }) {
        if (call === 'publish')
          return { workspaces: { ...workspaces, publish: losingFirstAnswer(workspaces.publish) } };
        if (call === 'setPublished') return { jobs: { ...jobs, setPublished: losingFirstAnswer(jobs.setPublished) } };
        const forge = forges.forProject({ forge: 'local', forgeUrl: null, repository: '' }, { refusal: () => null });
        const losing = { ...forge, ensurePullRequest: losingFirstAnswer(forge.ensurePullRequest) };
        return { forges: { ...forges, forProject: () => losing } };
      },
    });
    const { repository, model, worker } = stack;
    model.script(...writing);
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    expect(job.status).toBe('completed');
    const { rows } = await database.pool.query('select id from pull_requests where repository = $1', [repository.path]);
    expect(rows).toEqual([{ id: job.prId }]);
    expect(await repository.git('for-each-ref', '--format=%(refname)', 'refs/heads/docket')).toBe(
      `refs/heads/${job.branch}`,
    );
  }

  it.each(['ensurePullRequest'] as const)('after %s leaves one branch and one pull request', expectOnePullRequest);
  it.each(['publish', 'setPublished'] as const)(
    'after %s leaves one branch and one pull request',
    { tags: 'slow' },
    expectOnePullRequest,
  );
});

describe('an overtaken attempt', () => {
  it('does not call the model; the newer one does', { tags: ['slow'] }, async () => {
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
            if (askedBefore.length === 1) await claimAnswer(database.pool, ref);
            return claimed;
          },
        },
      }),
    });
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    expect(job).toMatchObject({ status: 'completed', steps: 2 });
    // claims before the first call: that of the overtaken attempt, and those of the next attempt, which first finds the
    // lease taken
    expect(askedBefore.filter((count) => count === 0).length).toBeGreaterThan(1);
    expect(askedBefore.filter((count) => count > 0)).toEqual([1]);
    expect(model.requests).toHaveLength(2);
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

  it(
    'leaves the branch to the newer one, which opened the pull request and ended the turn',
    { tags: 'slow' },
    async () => {
      let calls = 0;
      await using stack = await startJobStack({
        database,
        change: ({ forges, effects, jobs }) => ({
          forges: {
            ...forges,
            forProject(project, use) {
              const forge = forges.forProject(project, use);
              return {
                ...forge,
                async ensurePullRequest(request) {
                  calls += 1;
                  const turn = { jobId: /job_\w+/.exec(request.head)![0].split('-')[0]!, turn: 1 };
                  await effects.claim({ ...turn, effect: 'pull-request' });
                  await forge.ensurePullRequest({ ...request, beforeEffect: async () => undefined });
                  await jobs.finish({ ...turn, status: 'failed', failureCategory: 'cancelled' });
                  // like one that looked for a pull request before there was one
                  await request.beforeEffect();
                  throw new Error('Was to be stopped.');
                },
              };
            },
          },
        }),
      });
      const { repository, model, worker } = stack;
      model.script(...writing);
      const id = await worker.createJob({ prompt: 'Go', repository: repository.path });
      const { workflowId } = await worker.startJob(id);
      await expect(worker.client.workflow.getHandle(workflowId).result()).rejects.toThrow('Workflow execution failed');
      expect(calls).toBe(1);
      const branches = await repository.git('for-each-ref', '--format=%(refname:short)', 'refs/heads/docket');
      const { rows } = await database.pool.query('select head from pull_requests where repository = $1', [
        repository.path,
      ]);
      expect(rows).toEqual([{ head: branches }]);
    },
  );

  it('neither publishes nor completes a turn that a newer one continued with a message', { tags: 'slow' }, async () => {
    const [write, finish] = writing;
    let push: (() => Promise<void>) | null = null;
    let complete: (() => Promise<boolean>) | null = null;
    const woken: unknown[] = [];
    await using stack = await startJobStack({
      database,
      change: ({ jobs, workspaces }) => ({
        jobs: {
          ...jobs,
          async finish(end) {
            if (complete === null) {
              complete = () => jobs.finish(end);
              await asOperator(database.pool).send({ jobId: end.jobId, prompt: 'And that', idempotency: null });
            }
            return jobs.finish(end);
          },
        },
        workspaces: {
          ...workspaces,
          publish(request) {
            push ??= request.beforePush;
            return workspaces.publish(request);
          },
        },
      }),
    });
    const { repository, model, worker } = stack;
    model.script(write!, finish!, async () => {
      woken.push(await complete!(), await push!().catch((error: Error) => error.message));
      return finish!;
    });
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    expect(woken).toEqual([false, 'Another attempt took over this step.']);
    expect(job).toMatchObject({ status: 'completed', steps: 3, waitingMessages: 0 });
  });

  it('pushes nothing once the job has ended', async () => {
    await using stack = await startJobStack({
      database,
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
    const { repository, model, worker } = stack;
    model.script(...writing);
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'cancelled', prLink: null });
    expect(await repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  });
});
