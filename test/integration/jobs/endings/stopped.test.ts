import { describe, expect, it } from 'vitest';
import { GitError } from '../../../../activities/git/git-error.ts';
import { createWorkerPullRequestStore } from '../../../../db/for-worker/pull-requests.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { recordHistory } from '../../../support/database/histories.ts';
import type { RecordedRequest } from '../../../support/servers/scripted-model-server.ts';
import type { TestWorkerOptions } from '../../../support/stack/worker.ts';
import { asOperator } from '../../../support/stack/operator.ts';
import { ofFile } from '../../../support/of-file.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

const startStack = (change?: TestWorkerOptions['change']) =>
  startJobStack({ database, prompt: 'Write the notes', change });

function write(path: string) {
  return { toolCalls: [{ name: 'write', input: { path, content: `${path}\n` } }] };
}

const toolsOf = ({ body }: RecordedRequest) => body.tools?.map(({ function: { name } }) => name);

describe('a job that reaches a limit', () => {
  it('of steps keeps its work in a draft pull request and names the limit', async () => {
    await using stack = await startStack();
    stack.model.script(write('1.txt'), write('2.txt'), write('3.txt'));
    const job = await stack.worker.runJob(stack.job, { maxSteps: 3 });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'step_limit', steps: 3 });
    expect(job.prLink).toBe(`http://docket.test/pulls/${job.prId}`);
    expect(job.message).toMatch(
      /^The agent was stopped at its limit of 3 steps \(DOCKET_MAX_STEPS\)\. The turn took 3 steps and 360 tokens at a price that is not known\. Its work so far is in the pull request \S+\. A follow-up message continues/,
    );
    const pullRequest = await createWorkerPullRequestStore(database.pool).get(job.prId!);
    expect(pullRequest).toMatchObject({ draft: true, title: 'Write the notes', state: 'open' });
    expect(pullRequest!.body).toContain('The work is not finished. The agent was stopped at its limit of 3 steps');
    expect(await stack.repository.read(job.headCommit!)).toMatchObject({
      '1.txt': '100644 1.txt',
      '2.txt': '100644 2.txt',
    });
    await recordHistory('step-limit-kept', stack.worker.client.workflow.getHandle(`agent-job/${job.id}`));
  });

  it('of steps can only call finish in its last step', async () => {
    await using stack = await startStack();
    const finish = { name: 'finish', input: { title: 'Write notes', summary: 'All there.', complete: true } };
    stack.model.script(write('1.txt'), { toolCalls: [finish] });
    const job = await stack.worker.runJob(stack.job, { maxSteps: 2 });
    expect(job).toMatchObject({ status: 'completed', title: 'Write notes', failureCategory: null, incomplete: null });
    expect(toolsOf(stack.model.requests[0]!)).toContain('write');
    expect(toolsOf(stack.model.requests[1]!)).toEqual(['finish']);
    expect(await createWorkerPullRequestStore(database.pool).get(job.prId!)).toMatchObject({ draft: false });
  });

  it.each<[string, object]>([
    ['finishes', { toolCalls: [{ name: 'finish', input: { title: 'Write notes', summary: 'Some.' } }] }],
    ['says something', { text: 'I have written some.' }],
  ])('and %s in its last step without saying that everything is done fails at the limit', async (_, last) => {
    await using stack = await startStack();
    stack.model.script(write('1.txt'), last);
    const job = await stack.worker.runJob(stack.job, { maxSteps: 2 });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'step_limit', prDraft: true });
    expect(job.incomplete).toBe('The agent was stopped at its limit of 2 steps (DOCKET_MAX_STEPS).');
  });

  it('and reports in its last step that work remains fails with the agent’s own words', async () => {
    await using stack = await startStack();
    const finish = { name: 'finish', input: { title: 'Write a note', summary: 'Left: 2.txt.', complete: false } };
    stack.model.script(write('1.txt'), { toolCalls: [finish] });
    const job = await stack.worker.runJob(stack.job, { maxSteps: 2 });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'step_limit', title: 'Write a note' });
    expect(job.message).toMatch(/\n\nLeft: 2\.txt\.$/);
    expect(await createWorkerPullRequestStore(database.pool).get(job.prId!)).toMatchObject({ draft: true });
  });

  it('before it changed anything has no pull request', async () => {
    await using stack = await startStack();
    stack.model.respondWith({ toolCalls: [{ name: 'list', input: {} }] });
    const job = await stack.worker.runJob(stack.job, { maxSteps: 2 });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'step_limit', prLink: null, branch: null });
    expect(job.message).toContain('It changed nothing.');
  });

  it('of time keeps its work, too', { tags: 'slow' }, async () => {
    await using stack = await startStack();
    stack.model.script(write('1.txt'), { text: 'Never', stall: true });
    const job = await stack.worker.runJob(stack.job, { maxDurationMs: 12_000 });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'time_limit' });
    expect(job.message).toContain('limit of 0.2 minutes');
    expect(await createWorkerPullRequestStore(database.pool).get(job.prId!)).toMatchObject({ draft: true });
    await recordHistory('time-limit-kept', stack.worker.client.workflow.getHandle(`agent-job/${job.id}`));
  });

  it('continues with a message, on the same branch and pull request', async () => {
    await using stack = await startStack();
    stack.model.script(write('1.txt'), write('2.txt'), write('3.txt'), { text: 'Done.' });
    const stopped = await stack.worker.runJob(stack.job, { maxSteps: 2 });
    const job = await stack.worker.followUp(stopped.id, 'Go on');
    expect(job).toMatchObject({ status: 'completed', prId: stopped.prId, branch: stopped.branch });
    expect(await stack.repository.read(job.headCommit!)).toMatchObject({
      '1.txt': '100644 1.txt',
      '3.txt': '100644 3.txt',
    });
  });
});

it('a job that leaves part of its task undone completes with a draft, and says so', async () => {
  await using stack = await startStack();
  const finish = { name: 'finish', input: { title: 'Write a note', summary: 'Left: 2.txt.', complete: false } };
  stack.model.script(
    write('1.txt'),
    { toolCalls: [finish] },
    { toolCalls: [{ ...finish, input: { ...finish.input, complete: true } }] },
  );
  const job = await stack.worker.runJob(stack.job);
  const sentence = 'The agent reports that part of the task is not done.';
  expect(job).toMatchObject({ status: 'completed', prDraft: true, incomplete: sentence });
  const pullRequest = await createWorkerPullRequestStore(database.pool).get(job.prId!);
  expect(pullRequest).toMatchObject({ draft: true, body: expect.stringContaining(sentence) });
  const whole = await stack.worker.followUp(job.id, 'Leave it at that');
  expect(whole).toMatchObject({ status: 'completed', prDraft: true, incomplete: null });
});

describe('a job whose model fails after a change', () => {
  it('keeps its work in a draft pull request', async () => {
    await using stack = await startStack();
    stack.model.script(write('1.txt'), { status: 401 });
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'model_refused' });
    expect(await createWorkerPullRequestStore(database.pool).get(job.prId!)).toMatchObject({ draft: true });
    await recordHistory('model-refused-kept', stack.worker.client.workflow.getHandle(`agent-job/${job.id}`));
  });
});

describe('the draft of a stopped job', () => {
  it('is created once even if the worker is lost on the way', async () => {
    let tries = 0;
    await using stack = await startStack(({ jobs }) => ({
      jobs: {
        ...jobs,
        async setPublished(published) {
          tries += 1;
          if (tries === 1) throw new Error('The worker is gone.');
          return jobs.setPublished(published);
        },
      },
    }));
    stack.model.script(write('1.txt'), write('2.txt'));
    const job = await stack.worker.runJob(stack.job, { maxSteps: 2 });
    expect(tries).toBe(2);
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'step_limit' });
    const { rows } = await database.pool.query('select id from pull_requests where repository = $1', [
      stack.repository.path,
    ]);
    expect(rows).toEqual([{ id: job.prId }]);
  });

  it('that the forge refuses does not hide why the job was stopped', async () => {
    await using stack = await startStack(({ workspaces }) => ({
      workspaces: { ...workspaces, publish: () => Promise.reject(new GitError('rejected')) },
    }));
    stack.model.script(write('1.txt'), write('2.txt'));
    const job = await stack.worker.runJob(stack.job, { maxSteps: 2 });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'step_limit', prLink: null });
    expect(job.message).toMatch(/^The agent was stopped at its limit of 2 steps .* the job's diff has them\.$/);
    expect(await asOperator(database.pool).latestPatch(job.id)).toContain('+1.txt');
  });

  it('is not created after a cancel', async () => {
    await using stack = await startStack();
    stack.model.script(write('1.txt'), { text: 'Never', stall: true });
    const id = await stack.worker.createJob(stack.job);
    const { workflowId } = await stack.worker.startJob(id);
    await stack.model.nextRequest();
    await stack.model.nextRequest();
    await stack.worker.client.workflow.getHandle(workflowId).cancel();
    expect(await stack.worker.ended(id)).toMatchObject({ failureCategory: 'cancelled', prLink: null, branch: null });
    expect(await stack.repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  });
});
