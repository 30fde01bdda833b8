// @module-tag slow
import { expect, it } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { createJobForkStore } from '../../../db/jobs/job-forks.ts';
import { createPullRequestStore } from '../../../db/pull-requests/pull-requests.ts';
import type { JobRow } from '../../../db/jobs/jobs.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import type { TestRepository } from '../../support/git-repository.ts';
import { asOperator } from '../../support/stack/operator.ts';
import { followUpScene, writing } from './follow-up-scene.ts';
import { ofFile } from '../../support/of-file.ts';
import { startJobStack } from '../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

const mergeBase = true;
const finishing = writing('one.txt')[1]!;
const parentsOf = (repository: TestRepository, commit: string | null) =>
  repository.git('log', '-1', '--format=%P', commit!);
const filesIn = (patch: string | null) => [...(patch ?? '').matchAll(/^diff --git a\/(\S+)/gm)].map(([, path]) => path);
const pullRequestPatch = async (job: JobRow) =>
  filesIn(await createPullRequestStore(database.pool).patch(job, job.pullRequestId!));
const jobPatch = async ({ id }: JobRow) => filesIn((await asOperator(database.pool).latestPatch(id)) ?? null);

it.each(['local', 'github'] as const)(
  'the agent resolves a conflict with the base branch in a merge commit, on the %s forge',
  async (forge) => {
    await followUpScene({ database, forge }, async ({ repository, model, worker, first }) => {
      const early = await repository.commit({ 'early.txt': 'early\n' }, { branch: first.branch! });
      const main = await repository.commit({
        'one.txt': 'theirs\n',
        'README.md': null,
        '.github/workflows/ci.yml': 'on: push\n',
      });
      const read = { toolCalls: [{ name: 'read', input: { path: 'one.txt' } }] };
      let during: unknown;
      model.script(read, async () => {
        during = await pullRequestPatch(first);
        return writing('one.txt', 'both\n')[0]!;
      });
      model.script(async () => {
        await repository.commit({ 'late.txt': 'late\n' }, { branch: first.branch! });
        return finishing;
      });
      const second = await worker.followUp(first.id, 'Resolve it', { mergeBase });
      expect(second).toMatchObject({
        status: 'completed',
        baseCommit: main,
        mergedFrom: null,
        branch: first.branch,
        prId: first.prId,
      });
      expect(during).toEqual(['early.txt', 'one.txt']);
      const asked = JSON.stringify(model.requests[2]!.body.messages);
      expect(asked).toContain(`a merge of your change with commit ${main} of the base branch main`);
      expect(asked).toContain('- CONFLICT (add/add): Merge conflict in one.txt');
      expect(JSON.stringify(model.requests[3]!.body.messages)).toMatch(
        new RegExp(`<<<<<<< [0-9a-f]{40}.*one\\.txt.*=======.*theirs.*>>>>>>> ${main}`),
      );
      const late = await repository.git('rev-parse', `${second.headCommit}^1`);
      expect(await parentsOf(repository, second.headCommit)).toBe(`${late} ${main}`);
      expect(await parentsOf(repository, late)).toBe(early);
      expect(await repository.read(second.headCommit!)).toEqual({
        '.github/workflows/ci.yml': '100644 on: push',
        'early.txt': '100644 early',
        'late.txt': '100644 late',
        'one.txt': '100644 both',
      });
      expect(await jobPatch(second)).toEqual(['early.txt', 'late.txt', 'one.txt']);
      expect(await pullRequestPatch(second)).toEqual(['early.txt', 'late.txt', 'one.txt']);
      expect(await repository.git('merge-tree', '--write-tree', 'main', first.branch!)).toBe(
        await repository.git('rev-parse', `${first.branch}^{tree}`),
      );

      model.script(...writing('two.txt'));
      const third = await worker.followUp(first.id, 'Write two');
      expect(await parentsOf(repository, third.headCommit)).toBe(second.headCommit);
      expect(await pullRequestPatch(third)).toEqual(['early.txt', 'late.txt', 'one.txt', 'two.txt']);
    });
  },
);

it('a branch that is only behind gets a merge commit without a change of the agent', async () => {
  await followUpScene({ database, forge: 'local' }, async ({ repository, model, worker, first }) => {
    model.script({ text: 'Nothing to do.' });
    const same = await worker.followUp(first.id, 'Bring it up to date', { mergeBase });
    expect(same).toMatchObject({ status: 'completed', headCommit: first.headCommit, baseCommit: first.baseCommit });
    expect(JSON.stringify(model.requests.at(-1)!.body.messages)).not.toContain('a merge of your change');

    await database.pool.query(`update projects set allowed_paths = '{one.txt}' where id = $1`, [first.projectId]);
    const main = await repository.commit({ 'other.txt': 'other\n', '.github/workflows/ci.yml': 'on: push\n' });
    model.script({ text: 'Merged.' });
    const second = await worker.followUp(first.id, 'Bring it up to date', { mergeBase });
    expect(second).toMatchObject({ status: 'completed', baseCommit: main, message: 'Merged.' });
    expect(JSON.stringify(model.requests.at(-1)!.body.messages)).toContain('There were no conflicts.');
    expect(await parentsOf(repository, second.headCommit)).toBe(`${first.headCommit} ${main}`);
    expect(await pullRequestPatch(second)).toEqual(['one.txt']);

    // the base branch got the same change by another way
    const again = await repository.commit({ 'one.txt': 'one.txt\n' });
    model.script({ text: 'Merged.' });
    const third = await worker.followUp(first.id, 'Bring it up to date', { mergeBase });
    expect(await parentsOf(repository, third.headCommit)).toBe(`${second.headCommit} ${again}`);
    expect(await pullRequestPatch(third)).toEqual([]);

    await repository.commit({ 'new.txt': 'new\n' });
    await database.pool.query(`update projects set allowed_paths = '{}' where id = $1`, [first.projectId]);
    model.script({ toolCalls: [{ name: 'delete', input: { path: 'new.txt' } }] }, async () => {
      await database.pool.query(`update projects set allowed_paths = '{one.txt}' where id = $1`, [first.projectId]);
      return { text: 'Done.' };
    });
    const fourth = await worker.followUp(first.id, 'Delete the new file', { mergeBase });
    expect(fourth).toMatchObject({ status: 'failed', failureCategory: 'path_not_allowed' });
    expect(fourth.message).toContain('new.txt');
  });
});

it('conflict markers are found in a change that is too large to store its patch, but not where they were before', async () => {
  await followUpScene({ database, forge: 'local' }, async ({ repository, model, worker, first }) => {
    const marker = `>>>>>>> ${'a'.repeat(40)}\n`;
    await repository.commit({ 'one.txt': 'theirs\n', 'old.txt': marker, 'resolved.txt': marker });
    const large = 'a line that someone added\n'.repeat(250_000);
    await repository.commit({ 'large.txt': large }, { branch: first.branch! });
    model.script(
      { toolCalls: [{ name: 'write', input: { path: 'resolved.txt', content: 'resolved\n' } }] },
      finishing,
      finishing,
    );
    const second = await worker.followUp(first.id, 'Resolve it', { mergeBase });
    expect(second).toMatchObject({ status: 'failed', failureCategory: 'push_rejected' });
    expect(second.message).toMatch(/^Nothing was pushed: Conflict markers .* are left in one\.txt\. Send/);
    const patch = await asOperator(database.pool).latestPatch(first.id);
    expect(patch).toMatch(/^Conflict markers were added to these files:\none\.txt\n\nThe change is larger than 5 MB/);

    model.script(writing('one.txt', 'both\n')[0]!, finishing);
    expect(await worker.followUp(first.id, 'Resolve it')).toMatchObject({ status: 'completed' });
  });
});

it('the agent is told once of conflict markers that it leaves, and nothing is pushed until they are resolved', async () => {
  await followUpScene({ database, forge: 'local' }, async ({ repository, model, worker, first }) => {
    const main = await repository.commit({ 'one.txt': 'theirs\n', '.github/workflows/ci.yml': 'on: push\n' });
    model.script(finishing, finishing);
    const second = await worker.followUp(first.id, 'Resolve it', { mergeBase });
    expect(second).toMatchObject({
      status: 'failed',
      failureCategory: 'push_rejected',
      steps: 4,
      mergedFrom: first.baseCommit,
    });
    expect(second.message).toMatch(/^Nothing was pushed: Conflict markers .* are left in one\.txt\./);
    expect(JSON.stringify(model.requests.at(-1)!.body.messages.at(-1))).toContain(
      'Conflict markers of the merge with the base branch are left in one.txt. Resolve them',
    );
    expect(await repository.git('rev-parse', first.branch!)).toBe(first.headCommit);

    // the base branch moves on, and is merged on top of the merge that is not published yet
    const newer = await repository.commit({ 'two.txt': 'two\n' });
    model.script(writing('one.txt', 'both\n')[0]!, finishing);
    const third = await worker.followUp(first.id, 'Resolve it', { mergeBase });
    expect(third).toMatchObject({ status: 'completed', baseCommit: newer, mergedFrom: null });
    expect(JSON.stringify(model.requests.at(-2)!.body.messages)).toContain('There were no conflicts.');
    expect(await parentsOf(repository, third.headCommit)).toBe(`${first.headCommit} ${newer}`);
    expect(await repository.git('merge-base', '--is-ancestor', main, third.headCommit!)).toBe('');
    expect(await repository.read(third.headCommit!)).toMatchObject({ 'one.txt': '100644 both' });
    expect(await pullRequestPatch(third)).toEqual(['one.txt']);
  });
});

it.each(['mergeUpstream', 'adopt', 'publish', 'setPublished'] as const)(
  'a turn whose attempt dies after %s merges one commit of the base branch and publishes it once',
  async (call) => {
    let isArmed = false;
    let merged = '';
    const losing =
      <Arguments extends unknown[], Result>(name: string, work: (...values: Arguments) => Promise<Result>) =>
      async (...values: Arguments): Promise<Result> => {
        const result = await work(...values);
        if (!isArmed || name !== call) return result;
        isArmed = false;
        merged = await repository.git('rev-parse', 'main');
        await repository.commit({ 'later.txt': 'later\n' });
        throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET', syscall: 'read' });
      };
    await using stack = await startJobStack({
      database,
      change: ({ workspaces, branches, jobs }) => ({
        workspaces: {
          ...workspaces,
          mergeUpstream: losing('mergeUpstream', workspaces.mergeUpstream),
          publish: losing('publish', workspaces.publish),
        },
        branches: { ...branches, adopt: losing('adopt', branches.adopt) },
        jobs: { ...jobs, setPublished: losing('setPublished', jobs.setPublished) },
      }),
    });
    const { repository, model, worker } = stack;
    model.script(...writing('one.txt'));
    const first = await worker.runJob({ prompt: 'Write one', repository: repository.path });
    const main = await repository.commit({ 'one.txt': 'theirs\n' });
    isArmed = true;
    model.script(...writing('one.txt', 'both\n'));
    const second = await worker.followUp(first.id, 'Resolve it', { mergeBase });
    expect(second).toMatchObject({ status: 'completed', mergedFrom: null });
    expect(merged).toBe(main);
    // before the merge is stored, the next attempt may merge a newer commit
    const base = call === 'mergeUpstream' ? await repository.git('rev-parse', 'main') : main;
    expect(second.baseCommit).toBe(base);
    expect(await parentsOf(repository, second.headCommit)).toBe(`${first.headCommit} ${base}`);
    expect(await repository.git('rev-parse', first.branch!)).toBe(second.headCommit);
    expect(await pullRequestPatch(second)).toEqual(['one.txt']);
    expect(model.violations).toEqual([]);
  },
);

it('a fork of a turn that merged the base branch continues on the merged commit', async () => {
  await followUpScene({ database, forge: 'local' }, async ({ repository, model, worker, first }) => {
    const main = await repository.commit({ 'other.txt': 'other\n' });
    model.script(...writing('two.txt'));
    const second = await worker.followUp(first.id, 'Bring it up to date', { mergeBase });
    expect(second).toMatchObject({ status: 'completed', baseCommit: main });
    const forked = await createJobForkStore(database.pool).fork(await asOperator(database.pool).of(first.id), {
      id: newId('job_'),
      from: { jobId: first.id, turn: 2, step: 1 },
      models: null,
      prompt: null,
      idempotency: null,
    });
    if (!('job' in forked)) throw new Error(forked.kind);
    const { id, turn } = forked.job;
    model.script(finishing);
    await worker.startJob(id, {}, turn);
    const job = await worker.ended(id, turn);
    expect(job).toMatchObject({ status: 'completed', baseCommit: main, mergedFrom: null });
    expect(await parentsOf(repository, job.headCommit)).toBe(main);
    expect(await pullRequestPatch(job)).toEqual(['one.txt', 'two.txt']);
  });
});
