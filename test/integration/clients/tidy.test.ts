import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Git } from '../../../activities/git/git.ts';
import { mirrorNameOf } from '../../../activities/workspaces/mirrors.ts';
import { createWorkspaces } from '../../../activities/workspaces/workspaces.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { digDown } from './hostile-files.ts';
import { access, createTestWorkspaces, type TestWorkspaces } from './setup.ts';

const everything = Number.MAX_SAFE_INTEGER;

async function openJob({ workspaces }: TestWorkspaces, repository: string, jobId: string) {
  const { commit } = await workspaces.resolve({ ...access(repository), ref: null });
  return workspaces.open({ ...access(repository), jobId, baseCommit: commit, snapshot: null });
}

it('removes the working copies of ended jobs, but none in use or of active jobs', async () => {
  await using repository = await createTestRepository();
  await using test = await createTestWorkspaces();
  for (const id of ['ended', 'active', 'reopened']) await (await openJob(test, repository.path, id)).release();
  const busy = await openJob(test, repository.path, 'busy');
  let asked = 0;
  // a message arrives for one of them between the listing and its removal
  const endedAmong = (ids: string[]) => {
    asked += 1;
    const ended = asked === 1 ? ['ended', 'busy', 'reopened'] : ['ended', 'busy'];
    return Promise.resolve(ids.filter((id) => ended.includes(id)));
  };
  expect(await test.again().removeEnded(endedAmong)).toBe(1);
  expect((await readdir(join(test.directory, 'work', 'jobs'))).toSorted()).toEqual(['active', 'busy', 'reopened']);
  await busy.release();
});

it(
  'removes paths deeper than the longest path, even where an earlier removal left them',
  { tags: 'slow' },
  async () => {
    await using repository = await createTestRepository();
    await using test = await createTestWorkspaces();
    const opened = await openJob(test, repository.path, 'deep');
    await digDown(opened.path, 2_500);
    await opened.release();
    const trash = join(test.directory, 'work', 'trash');
    await mkdir(join(trash, 'left'), { recursive: true });
    await digDown(join(trash, 'left'), 2_500);
    await utimes(join(trash, 'left'), new Date(0), new Date(0));

    expect(await test.again().removeEnded((ids) => Promise.resolve(ids))).toBe(1);
    expect(await readdir(join(test.directory, 'work', 'jobs'))).toEqual([]);
    expect(await readdir(trash)).toEqual([]);
  },
);

it('removes the mirrors unused for the longest or for a month, and fetches one again when it is needed', async () => {
  await using test = await createTestWorkspaces();
  await using old = await createTestRepository();
  await using borrowed = await createTestRepository();
  await using recent = await createTestRepository();
  const nameOf = (path: string) => mirrorNameOf(access(path));
  const mirrorOf = (path: string) => join(test.directory, 'work', 'mirrors', `${nameOf(path)}.git`);
  for (const { path } of [old, borrowed, recent]) {
    await (await openJob(test, path, `job-${nameOf(path)}`)).release();
  }
  await test.workspaces.remove(`job-${nameOf(old.path)}`);
  const usedBefore = async (days: number) => {
    const time = new Date(Date.now() - days * 24 * 60 * 60_000);
    for (const { path } of [old, borrowed]) await utimes(join(mirrorOf(path), 'HEAD'), time, time);
  };

  await usedBefore(29);
  expect(await test.workspaces.boundMirrors(everything)).toBe(0);
  expect(await test.workspaces.boundMirrors(1)).toBe(1);
  expect([old, borrowed, recent].map(({ path }) => existsSync(mirrorOf(path)))).toEqual([false, true, true]);
  expect(await readdir(join(test.directory, 'work', 'trash'))).toEqual([]);

  const opened = await openJob(test, old.path, 'again');
  await opened.release();
  expect(existsSync(mirrorOf(old.path))).toBe(true);

  await test.workspaces.remove('again');
  await usedBefore(31);
  expect(await test.workspaces.boundMirrors(everything)).toBe(1);
  expect([old, borrowed, recent].map(({ path }) => existsSync(mirrorOf(path)))).toEqual([false, true, true]);
});

it('keeps a mirror that is in use', async () => {
  await using test = await createTestWorkspaces();
  await using repository = await createTestRepository();
  await (await openJob(test, repository.path, 'job')).release();
  await test.workspaces.remove('job');
  expect(await test.workspaces.boundMirrors(1)).toBe(0);
});

it('removes half-made mirrors that earlier versions left, except those that may still be in the making', async () => {
  await using test = await createTestWorkspaces();
  await using repository = await createTestRepository();
  await test.workspaces.resolve({ ...access(repository.path), ref: null });
  const mirrors = join(test.directory, 'work', 'mirrors');
  const [whole] = await readdir(mirrors);
  const [left, recent] = [`${whole}.${randomUUID()}`, `${whole}.${randomUUID()}`];
  for (const name of [left, recent]) await mkdir(join(mirrors, name, 'objects'), { recursive: true });
  await utimes(join(mirrors, left), new Date(0), new Date(0));
  await test.workspaces.boundMirrors(everything);
  expect((await readdir(mirrors)).toSorted()).toEqual([whole, recent].toSorted());
  expect(await readdir(join(test.directory, 'work', 'trash'))).toEqual([]);
});

it('removes mirrors of a worker that has removed no working copy yet', async () => {
  await using test = await createTestWorkspaces();
  await using repository = await createTestRepository();
  await test.workspaces.resolve({ ...access(repository.path), ref: null });
  const mirror = join(test.directory, 'work', 'mirrors', `${mirrorNameOf(access(repository.path))}.git`);
  await utimes(join(mirror, 'HEAD'), new Date(0), new Date(0));
  expect(await test.workspaces.boundMirrors(1)).toBe(1);
  expect(existsSync(mirror)).toBe(false);
});

it('rebuilds a mirror where the sweep finds it if the worker is killed', async () => {
  await using test = await createTestWorkspaces();
  await using repository = await createTestRepository();
  const work = join(test.directory, 'work');
  const found: string[][] = [];
  const git: Git = {
    ...test.git,
    async run(call) {
      if (call.args.includes('fetch'))
        for (const name of ['mirrors', 'trash']) found.push(await readdir(join(work, name)));
      return test.git.run(call);
    },
  };
  const baseCommit = await repository.git('rev-parse', 'main');
  const request = { ...access(repository.path), jobId: 'moved', baseCommit, snapshot: null };
  await (await createWorkspaces({ git, directory: work }).open(request)).release();
  expect(found).toEqual([[], [expect.any(String)]]);
  expect(await readdir(join(work, 'trash'))).toEqual([]);
});
