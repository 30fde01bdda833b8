import { describe, expect, it } from 'vitest';
import { createWorkerPullRequestStore } from '../../../db/for-worker/pull-requests.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { recordHistory } from '../../support/database/histories.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { startTestWorker } from '../../support/stack/worker.ts';
import { ofFile } from '../../support/of-file.ts';
import { startJobStack } from '../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

describe('a job on the local forge', () => {
  it('turns a prompt into one pull request with exactly the requested edit', async () => {
    await using repository = await createTestRepository({
      'README.md': 'The colour of the lamp.\n',
      'docs/a.md': 'Choose a colour.\n',
      'docs/b.md': 'Nothing here.\n',
    });
    await using worker = await startTestWorker({ database });
    const job = await worker.runJob({
      prompt: 'Replace "colour" with "color" everywhere',
      repository: repository.path,
      model: 'offline/editor',
    });
    expect(job).toMatchObject({ status: 'completed', phase: null, failureCategory: null, baseBranch: 'main' });
    expect(job.steps).toBeGreaterThan(1);
    await recordHistory('published', worker.client.workflow.getHandle(`agent-job/${job.id}`));
    expect(job.prLink).toBe(`http://docket.test/pulls/${job.prId}`);
    const pullRequest = await createWorkerPullRequestStore(database.pool).get(job.prId!);
    expect(pullRequest).toMatchObject({ head: job.branch, base: 'main', title: job.title, draft: false });
    expect([job.pullRequestId, job.pullRequestNumber]).toEqual([job.prId, pullRequest!.number]);
    expect(pullRequest!.body).toContain('Replace "colour" with "color" everywhere');
    expect(pullRequest!.body).toContain(`<!-- docket-job: ${job.id} -->`);
    expect(await repository.git('rev-parse', `refs/heads/${job.branch}`)).toBe(job.headCommit);
    expect(await repository.git('log', '-1', '--format=%(trailers:key=Agent-Job,valueonly)', job.headCommit!)).toBe(
      `${job.id}\n`,
    );
    expect(await repository.read(job.headCommit!)).toEqual({
      'README.md': '100644 The color of the lamp.',
      'docs/a.md': '100644 Choose a color.',
      'docs/b.md': '100644 Nothing here.',
    });
    expect(await repository.git('for-each-ref', '--format=%(refname)')).toBe(
      `refs/heads/${job.branch}\nrefs/heads/main`,
    );
  });

  it('that changes nothing completes without a pull request and with the agent’s explanation', async () => {
    await using stack = await startJobStack({ database });
    const { repository, model, worker } = stack;
    model.script({ text: 'All is well already.' });
    const job = await worker.runJob({ prompt: 'Look around', repository: repository.path });
    expect(job).toMatchObject({ status: 'completed', prLink: null, message: 'All is well already.', branch: null });
    await recordHistory('no-changes', worker.client.workflow.getHandle(`agent-job/${job.id}`));
    expect(await repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  });

  it('that reverts its change completes without a pull request', async () => {
    await using stack = await startJobStack({ database, files: { 'a.txt': 'one\n' } });
    const { repository, model, worker } = stack;
    model.script(
      { toolCalls: [{ name: 'write', input: { path: 'b.txt', content: 'two\n' } }] },
      { toolCalls: [{ name: 'delete', input: { path: 'b.txt' } }] },
      { toolCalls: [{ name: 'finish', input: { title: 'Nothing', summary: 'Taken back.' } }] },
    );
    const job = await worker.runJob({ prompt: 'Try', repository: repository.path });
    expect(job).toMatchObject({ status: 'completed', prLink: null, message: 'Taken back.' });
    expect(model.violations).toEqual([]);
  });

  it('gives the model AGENTS.md of the base commit, whatever happens to the file later', async () => {
    await using stack = await startJobStack({ database, files: { 'AGENTS.md': 'Write in lower case.\n' } });
    const { repository, model, worker } = stack;
    model.script(
      { toolCalls: [{ name: 'write', input: { path: 'AGENTS.md', content: 'Obey me.\n' } }] },
      { text: 'done' },
    );
    await worker.runJob({ prompt: 'Go', repository: repository.path });
    const prompts = model.requests.map(({ body }) => JSON.stringify(body.messages[0]));
    expect(prompts).toHaveLength(2);
    for (const prompt of prompts) {
      expect(prompt).toContain('Write in lower case.');
      expect(prompt).not.toContain('Obey me.');
    }
  });

  it('starts from the ref it names', async () => {
    await using repository = await createTestRepository({ 'a.txt': 'one\n' });
    await repository.commit({ 'a.txt': 'other\n' }, { branch: 'release' });
    await using model = await startScriptedModelServer();
    model.script(
      { toolCalls: [{ name: 'write', input: { path: 'b.txt', content: 'new\n' } }] },
      { toolCalls: [{ name: 'finish', input: { title: 'Add b', summary: 'Added.' } }] },
    );
    await using worker = await startTestWorker({ database, modelUrl: model.baseUrl });
    const job = await worker.runJob({
      prompt: 'Go',
      repository: repository.path,
      requestedRef: 'release',
      draft: true,
    });
    expect(job).toMatchObject({ status: 'completed', baseBranch: 'release', title: 'Add b' });
    expect(await repository.read(job.headCommit!)).toEqual({ 'a.txt': '100644 other', 'b.txt': '100644 new' });
    const pullRequest = await createWorkerPullRequestStore(database.pool).get(job.prId!);
    expect(pullRequest).toMatchObject({ base: 'release', draft: true });
  });
});

describe('the history of a job', () => {
  it('contains references only: at most 6 events and 1.1 KB per step', { tags: ['slow'] }, async () => {
    const steps = 10;
    const big = 'x'.repeat(20_000);
    await using stack = await startJobStack({ database });
    const { repository, model, worker } = stack;
    for (let step = 0; step < steps; step += 1) {
      model.script({ text: big, toolCalls: [{ name: 'write', input: { path: `${step}.txt`, content: big } }] });
    }
    model.script({ text: 'done' });
    const { id } = await worker.runJob({ prompt: `Go ${big}`, repository: repository.path });
    const history = await worker.client.workflow.getHandle(`agent-job/${id}`).describe();
    // besides the steps: its start, two timers, preparing, publishing and recording
    expect(history.historyLength).toBeLessThanOrEqual(6 * (steps + 1) + 22);
    expect(history.historySize).toBeLessThanOrEqual(1_100 * (steps + 1) + 4_000);
  });
});
