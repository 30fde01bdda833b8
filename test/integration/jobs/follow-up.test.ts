import { describe, expect, it } from 'vitest';
import { createWorkerPullRequestStore } from '../../../db/for-worker/pull-requests.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { expectPullRequests } from '../../support/database/expect-pull-requests.ts';
import { recordHistory } from '../../support/database/histories.ts';
import { asOperator } from '../../support/stack/operator.ts';
import { followUpScene, writing } from './follow-up-scene.ts';
import { ofFile } from '../../support/of-file.ts';
import { startJobStack } from '../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

const scene = (forge: 'local' | 'github', act: Parameters<typeof followUpScene>[1]) =>
  followUpScene({ database, forge }, act);

describe.each(['local', 'github'] as const)('a follow-up on the %s forge', (forge) => {
  it('continues from the last tree on the same branch and pull request', { tags: 'slow' }, async () => {
    await scene(forge, async ({ worker, model, first, repository, pullRequestHeads }) => {
      model.script(...writing('two.txt'));
      const second = await worker.followUp(first.id, 'Write two');
      expect(second).toMatchObject({
        status: 'completed',
        turn: 2,
        branch: first.branch,
        prLink: first.prLink,
        title: 'Write one.txt',
        message: 'Wrote two.txt.',
      });
      await recordHistory('follow-up', worker.client.workflow.getHandle(`agent-job/${first.id}/turn-2`));
      expect(await pullRequestHeads()).toEqual([first.branch]);
      expect(await repository.git('rev-parse', first.branch!, `${first.branch}^`)).toBe(
        `${second.headCommit}\n${first.headCommit}`,
      );
      expect(await repository.read(second.headCommit!)).toMatchObject({
        'one.txt': '100644 one.txt',
        'two.txt': '100644 two.txt',
      });
      const asked = JSON.stringify(model.requests[2]!.body.messages);
      expect(asked).toContain('Write one');
      expect(asked).toContain('Write two');
    });
  });

  it('has what a person pushed to the branch in its working copy, and keeps it', { tags: 'slow' }, async () => {
    await scene(forge, async ({ worker, model, first, repository }) => {
      const theirs = await repository.commit({ 'theirs.txt': 'theirs\n' }, { branch: first.branch! });
      const [, finish] = writing('two.txt');
      model.script({ toolCalls: [{ name: 'move', input: { from: 'theirs.txt', to: 'moved.txt' } }] }, async () => {
        await repository.commit({ 'late.txt': 'late\n' }, { branch: first.branch! });
        return finish!;
      });
      const second = await worker.followUp(first.id, 'Rename their file');
      expect(second).toMatchObject({ status: 'completed', branch: first.branch });
      expect(await repository.git('merge-base', '--is-ancestor', theirs, second.headCommit!)).toBe('');
      expect(Object.keys(await repository.read(second.headCommit!)).sort()).toEqual([
        'README.md',
        'late.txt',
        'moved.txt',
        'one.txt',
      ]);
      model.script(...writing('three.txt'));
      const third = await worker.followUp(first.id, 'Write three');
      expect(Object.keys(await repository.read(third.headCommit!))).toContain('late.txt');
    });
  });

  it(
    'fails with the reason when a person changed the same lines meanwhile, and leaves the branch alone',
    { tags: 'slow' },
    async () => {
      await scene(forge, async ({ worker, model, first, repository }) => {
        const theirs = { id: '' };
        const [write, finish] = writing('one.txt', 'ours\n');
        model.script(write!, async () => {
          theirs.id = await repository.commit({ 'one.txt': 'theirs\n' }, { branch: first.branch! });
          return finish!;
        });
        const second = await worker.followUp(first.id, 'Write one again');
        expect(second).toMatchObject({ status: 'failed', failureCategory: 'push_rejected' });
        expect(second.message).toContain('same lines');
        expect(await repository.git('rev-parse', first.branch!)).toBe(theirs.id);
      });
    },
  );

  it('opens a new pull request after the first was closed', { tags: 'slow' }, async () => {
    await scene(forge, async ({ worker, model, first, repository, endPullRequest, pullRequestHeads }) => {
      await endPullRequest('closed');
      model.script(...writing('two.txt'));
      const second = await worker.followUp(first.id, 'Write two');
      expect(second).toMatchObject({ status: 'completed', branch: `docket/${first.id}-2-write-two-txt` });
      await recordHistory('follow-up-after-closed', worker.client.workflow.getHandle(`agent-job/${first.id}/turn-2`));
      expect(await pullRequestHeads()).toEqual([first.branch, second.branch]);
      await expectPullRequests(database.pool, [first, second], { closed: ['one.txt'], open: ['one.txt', 'two.txt'] });
      expect(await repository.git('rev-parse', first.branch!)).toBe(first.headCommit);
      expect(Object.keys(await repository.read(second.headCommit!))).toEqual(['README.md', 'one.txt', 'two.txt']);
    });
  });

  it.each(['closed', 'merged'] as const)(
    'opens a new pull request if the first is %s during the turn',
    { tags: 'slow' },
    async (state) => {
      await scene(forge, async ({ worker, model, first, endPullRequest, pullRequestHeads, repository }) => {
        const [write, finish] = writing('two.txt');
        model.script(write!, async () => {
          await endPullRequest(state);
          return finish!;
        });
        const second = await worker.followUp(first.id, 'Write two');
        expect(second).toMatchObject({ status: 'completed', prState: 'open' });
        expect(await pullRequestHeads()).toEqual([first.branch, second.branch]);
        expect(await repository.git('rev-parse', first.branch!)).toBe(first.headCommit);
        expect(Object.keys(await repository.read(second.headCommit!))).toEqual(['README.md', 'one.txt', 'two.txt']);
      });
    },
  );

  it(
    'starts over on the base branch after the first was merged, even as one squashed commit',
    { tags: 'slow' },
    async () => {
      await scene(forge, async ({ worker, model, first, repository, endPullRequest, pullRequestHeads }) => {
        const main = await repository.commit({ 'one.txt': 'one.txt\n', 'other.txt': 'other\n' });
        await endPullRequest('merged');
        await repository.git('update-ref', '-d', `refs/heads/${first.branch}`);
        model.script(...writing('two.txt'));
        const second = await worker.followUp(first.id, 'Write two');
        await recordHistory('follow-up-after-merged', worker.client.workflow.getHandle(`agent-job/${first.id}/turn-2`));
        expect(second).toMatchObject({ status: 'completed', prState: 'open', baseCommit: main });
        expect(await pullRequestHeads()).toEqual([first.branch, second.branch]);
        expect(await repository.git('rev-parse', `${second.headCommit}^`)).toBe(main);
        expect(await repository.git('diff', '--name-only', main, second.headCommit!)).toBe('two.txt');
        await expectPullRequests(database.pool, [first, second], { merged: ['one.txt'], open: ['two.txt'] });
      });
    },
  );

  it('that changes nothing after a merge opens none, and has an empty diff', { tags: 'slow' }, async () => {
    await scene(forge, async ({ worker, model, first, repository, endPullRequest, pullRequestHeads }) => {
      const main = await repository.commit({ 'one.txt': 'one.txt\n' });
      await endPullRequest('merged');
      model.script({ text: 'It is fine.' });
      const second = await worker.followUp(first.id, 'Is it fine?');
      expect(second).toMatchObject({
        status: 'completed',
        prState: 'merged',
        baseCommit: main,
        message: 'It is fine.',
      });
      expect(await pullRequestHeads()).toEqual([first.branch]);
      expect(await asOperator(database.pool).latestPatch(first.id)).toBeNull();
      model.script(...writing('two.txt'));
      const third = await worker.followUp(first.id, 'Write two');
      expect(await repository.git('rev-parse', `${third.headCommit}^`)).toBe(main);
    });
  });

  it('that changes nothing leaves a closed pull request closed and reports its state', async () => {
    await scene(forge, async ({ worker, model, first, endPullRequest, pullRequestHeads }) => {
      await endPullRequest('closed');
      model.script({ text: 'It is fine.' });
      const second = await worker.followUp(first.id, 'Is it fine?');
      expect(second).toMatchObject({
        status: 'completed',
        prState: 'closed',
        prLink: first.prLink,
        message: 'It is fine.',
      });
      expect(await pullRequestHeads()).toEqual([first.branch]);
    });
  });
});

describe('a message to an active job', () => {
  it('is read by the next model call', async () => {
    await scene('local', async ({ worker, model, first }) => {
      const [write, finish] = writing('two.txt');
      model.script({ ...write!, stall: true }, finish!);
      const before = model.requests.length;
      const turn = worker.followUp(first.id, 'Write two');
      await expect.poll(() => model.requests.length).toBe(before + 1);
      const sent = await asOperator(database.pool).send({ jobId: first.id, prompt: 'In capitals', idempotency: null });
      expect(sent).toMatchObject({ kind: 'joined', job: { turn: 2, status: 'active' } });
      model.release();
      expect(await turn).toMatchObject({ status: 'completed', waitingMessages: 0, turn: 2 });
      const roles = model.requests.at(-1)!.body.messages.map(({ role }) => role);
      expect(roles.slice(-3)).toEqual(['assistant', 'tool', 'user']);
      expect(JSON.stringify(model.requests.at(-1)!.body.messages.at(-1))).toContain('In capitals');
      expect(JSON.stringify(model.requests.at(-2)!.body.messages)).not.toContain('In capitals');
    });
  });

  it.each([
    ['ends with words', { text: 'Done.' }],
    ['ends with finish', writing('x')[1]!],
  ] as const)('lets a turn that %s continue', { tags: 'slow' }, async (_, ending) => {
    await scene('local', async ({ worker, model, first, repository }) => {
      const send = () => asOperator(database.pool).send({ jobId: first.id, prompt: 'And two', idempotency: null });
      model.script(
        async () => {
          await send();
          return ending;
        },
        ...writing('two.txt'),
      );
      const second = await worker.followUp(first.id, 'Look');
      expect(second).toMatchObject({ status: 'completed', turn: 2, message: 'Wrote two.txt.' });
      expect(Object.keys(await repository.read(second.headCommit!))).toContain('two.txt');
    });
  });

  it('that arrives during the publish lets the turn continue and publish once more', { tags: 'slow' }, async () => {
    let isFirst = true;
    await using stack = await startJobStack({
      database,
      change: ({ jobs }) => ({
        jobs: {
          ...jobs,
          async setPublished(ref) {
            const result = await jobs.setPublished(ref);
            if (isFirst)
              await asOperator(database.pool).send({ jobId: ref.jobId, prompt: 'And two', idempotency: null });
            isFirst = false;
            return result;
          },
        },
      }),
    });
    const { repository, model, worker } = stack;
    model.script(...writing('one.txt'), ...writing('two.txt'));
    const job = await worker.runJob({ prompt: 'Write one', repository: repository.path });
    expect(job).toMatchObject({ status: 'completed', turn: 1, waitingMessages: 0, steps: 4 });
    await recordHistory('message', worker.client.workflow.getHandle(`agent-job/${job.id}`));
    expect(Object.keys(await repository.read(job.headCommit!))).toEqual(['README.md', 'one.txt', 'two.txt']);
    expect(await repository.git('rev-list', '--count', `main..${job.branch}`)).toBe('2');
    const pullRequest = await createWorkerPullRequestStore(database.pool).get(job.prId!);
    expect(pullRequest!.body).toContain('And two');
    expect(model.violations).toEqual([]);
  });
});

it('a failed job continues from its earlier work', async () => {
  await using stack = await startJobStack({ database });
  const { repository, model, worker } = stack;
  model.script(writing('one.txt')[0]!, { status: 400 });
  const first = await worker.runJob({ prompt: 'Write one', repository: repository.path });
  expect(first).toMatchObject({ status: 'failed', failureCategory: 'model_refused' });
  expect(await createWorkerPullRequestStore(database.pool).get(first.prId!)).toMatchObject({ draft: true });
  model.script(writing('one.txt')[1]!);
  const second = await worker.followUp(first.id, 'Go on');
  expect(second).toMatchObject({ status: 'completed', failureCategory: null, turn: 2, prId: first.prId });
  expect(Object.keys(await repository.read(second.headCommit!))).toEqual(['README.md', 'one.txt']);
});
