import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { GitError } from '../../../../activities/git/git-error.ts';
import { createJobCanceller } from '../../../../api/jobs/job-canceller.ts';
import { createOutboxSweeper } from '../../../../api/jobs/outbox-sweeper.ts';
import { createCancelStore } from '../../../../db/jobs/outbox.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { createTestRepository } from '../../../support/git-repository.ts';
import { recordHistory } from '../../../support/database/histories.ts';
import { startScriptedModelServer } from '../../../support/servers/scripted-model-server.ts';
import { startTestWorker } from '../../../support/stack/worker.ts';
import { writing } from '../../../support/writing-script.ts';
import { asOperator } from '../../../support/stack/operator.ts';
import { ofFile } from '../../../support/of-file.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

async function startStack() {
  await using resources = new AsyncDisposableStack();
  const { repository, model, worker } = resources.use(await startJobStack({ database }));
  const canceller = resources.use(
    createOutboxSweeper({
      outbox: createCancelStore(database.pool),
      startJob: createJobCanceller({ client: worker.client }),
      log: pino({ level: 'silent' }),
      intervalMs: 100,
    }),
  );
  const running = resources.move();
  const cancel = async (jobId: string) => {
    const cancelled = await asOperator(database.pool).cancel(jobId);
    canceller.wake();
    return cancelled;
  };
  return { repository, model, worker, cancel, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function cancelsOf(jobId: string): Promise<number | null> {
  return (await database.pool.query('select from job_cancels where job_id = $1', [jobId])).rowCount;
}

describe('a cancel by a person', () => {
  it('aborts the model call and ends the execution; a follow-up continues after it', async () => {
    await using stack = await startStack();
    const { model, worker, repository } = stack;
    model.script(writing[0]!, { ...writing[1]!, stall: true });
    const id = await worker.createJob({ prompt: 'Go', repository: repository.path });
    await worker.startJob(id);
    await model.nextRequest();
    const request = await model.nextRequest();
    expect(await stack.cancel(id)).toMatchObject({ status: 'failed', failureCategory: 'cancelled' });
    expect(await request.closed).toBe('aborted');
    expect(await worker.ended(id)).toMatchObject({ status: 'failed', failureCategory: 'cancelled', branch: null });
    await recordHistory('cancelled-by-person', worker.client.workflow.getHandle(`agent-job/${id}`));
    await expect.poll(() => cancelsOf(id)).toBe(0);
    expect(await repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    model.script(writing[1]!);
    const second = await worker.followUp(id, 'Go on');
    expect(second).toMatchObject({ status: 'completed', failureCategory: null });
    await recordHistory('follow-up-after-failed', worker.client.workflow.getHandle(`agent-job/${id}/turn-2`));
    expect(await repository.read(second.headCommit!)).toMatchObject({ 'new.txt': '100644 new' });
    expect(model.violations).toEqual([]);
  });

  it('during a publish prevents any further push', async () => {
    await using stack = await startJobStack({
      database,
      change: ({ workspaces }) => ({
        workspaces: {
          ...workspaces,
          async publish(request) {
            await asOperator(database.pool).cancel(request.jobId);
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

  async function expectReverted(how: string): Promise<void> {
    await using repository = await createTestRepository();
    await using model = await startScriptedModelServer();
    model.script(...writing);
    const heads = () => repository.git('for-each-ref', '--format=%(refname)');
    let afterPush = '';
    await using worker = await startTestWorker({
      database,
      modelUrl: model.baseUrl,
      change: ({ workspaces }) => ({
        workspaces: {
          ...workspaces,
          async publish(request) {
            const published = await workspaces.publish(request);
            afterPush = await heads();
            await asOperator(database.pool).cancel(request.jobId);
            if (how === 'is stopped') throw new GitError('aborted');
            return published;
          },
        },
      }),
    });
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'cancelled', prLink: null });
    expect(afterPush).toContain('refs/heads/docket/');
    expect(await heads()).toBe('refs/heads/main');
  }

  it.each(['is stopped'])('while a push %s reverts the branch', expectReverted);
  it.each(['ends'])('while a push %s reverts the branch', { tags: 'slow' }, expectReverted);

  it('of a job that never started succeeds even though Temporal does not know the job', async () => {
    await using stack = await startStack();
    const id = await stack.worker.createJob({ prompt: 'Go', repository: stack.repository.path });
    await stack.cancel(id);
    await expect.poll(() => cancelsOf(id)).toBe(0);
    await stack.worker.startJob(id); // a start in flight
    expect(await stack.worker.ended(id)).toMatchObject({ status: 'failed', failureCategory: 'cancelled' });
    expect(stack.model.requests).toEqual([]);
  });
});
