import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NoJobDisksError, openJobDisks } from '../../../activities/workspaces/job-disks.ts';
import { openSandbox } from '../../../activities/sandbox/open-sandbox.ts';
import type { Sandbox } from '../../../activities/sandbox/sandbox.ts';
import { createTestRepository, type TestRepository } from '../../support/git-repository.ts';
import { testLimits } from '../../support/sandbox/sandbox.ts';
import { mountSmallDisk } from '../../support/sandbox/small-disk.ts';
import { access, changeTree, createTestWorkspaces, live, type TestWorkspaces } from '../clients/setup.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const execute = promisify(execFile);
const megabyte = 2 ** 20;
const growthBytes = 24 * megabyte;

/** Whether this machine lets the account that runs the tests use loop devices. */
async function hasDisks(): Promise<boolean> {
  try {
    await openJobDisks(temporaryDirectory(), { growthBytes });
    return true;
  } catch (error) {
    process.stderr.write(`${String(error)} The tests of the disks of jobs are left out.\n`);
    return false;
  }
}

/** Returns the files behind the loop devices of this machine. */
async function loopFiles(): Promise<string[]> {
  const devices = (await readdir('/sys/block')).filter((name) => name.startsWith('loop'));
  const read = (device: string) => readFile(`/sys/block/${device}/loop/backing_file`, 'utf8').catch(() => '');
  return Promise.all(devices.map(read));
}

const mountsBelow = async (directory: string) =>
  (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').filter((line) => line.includes(directory));

describe.runIf(await hasDisks())('a disk for each job', () => {
  let repository: TestRepository;
  let test: TestWorkspaces;
  let sandbox: Sandbox;
  let commit: string;
  beforeAll(async () => {
    repository = await createTestRepository({ 'a.txt': 'a', 'folder/b.txt': 'b' });
    test = await createTestWorkspaces({ growthBytes });
    ({ commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null }));
    // more than the disk can hold, so that the disk itself stops the command
    const limits = { ...testLimits, diskBytes: 8 * growthBytes };
    const opened = await openSandbox({ directory: join(test.directory, 'sandbox'), limits });
    if (opened.sandbox === null) throw new Error(opened.problem);
    ({ sandbox } = opened);
  });
  afterAll(async () => {
    for (const jobId of await readdir(join(test.directory, 'work', 'jobs'))) await test.workspaces.remove(jobId);
    await test[Symbol.asyncDispose]();
    await repository[Symbol.asyncDispose]();
  });

  const open = (jobId: string, { workspaces = test.workspaces, snapshot = null as any } = {}) =>
    workspaces.open({ ...access(repository.path), jobId, baseCommit: commit, snapshot });
  const run = (jobId: string, tree: string, command: string) =>
    sandbox.run({ jobId, tree, command, timeoutMs: 60_000, signal: live });

  it.each([
    ['bytes', 'i=0; while head -c 300K /dev/zero > big-$i; do i=$((i+1)); done'],
    ['allocated blocks', 'i=0; while fallocate --posix -l 1M big-$i; do i=$((i+1)); done'],
    ['empty files', `perl -e 'for (my $i = 0; open my $f, ">", "empty-$i"; $i++) {}'`],
    ['folders', `perl -e 'for (my $i = 0; mkdir "folder-$i"; $i++) {}'`],
    ['symbolic links', `perl -e 'for (my $i = 0; symlink "x" x 200, "link-$i"; $i++) {}'`],
    ['names of one file', `perl -e 'for (my $i = 0; link "a.txt", "n" x 240 . $i; $i++) { mkdir "d$i"; }'`],
    [
      'a file without a name',
      `perl -e 'open F, ">", "gone"; unlink "gone"; while (syswrite F, "x" x 65536) {} sleep 30'`,
    ],
  ])('ends what a command adds in %s, and touches no neighbour', async (_what, command) => {
    const [mine, other] = [await open('mine'), await open('other')];
    const before = await statfs(test.directory);
    const neighbour = run('other', other.path, 'head -c 4M /dev/zero > kept; sleep 1; wc -c < kept');
    expect(await run('mine', mine.path, command)).toMatchObject({ stopped: 'disk', exitCode: null });
    expect(await neighbour).toMatchObject({ stopped: null, exitCode: 0 });
    const after = await statfs(mine.path);
    expect(after.blocks * after.bsize).toBeLessThan(growthBytes + 4 * megabyte);
    expect(after.files).toBeLessThan(growthBytes / 4096 + 2_000);
    const added = (before.bfree - (await statfs(test.directory)).bfree) * before.bsize;
    // others write to the machine's disk, too
    expect(added).toBeLessThan(400 * megabyte);
    for (const one of [mine, other]) await one.release();
    await test.workspaces.remove('mine');
  });

  it('contains what the worker reads, snapshots and rebuilds, and is removed with the working copy', async () => {
    const opened = await open('kept');
    expect(await run('kept', opened.path, 'echo changed > a.txt; mkdir new; echo c > new/c')).toMatchObject({
      exitCode: 0,
    });
    const mounts = await run('kept', opened.path, 'cat /proc/self/mountinfo');
    expect(mounts.output.head.toString()).not.toContain(test.directory);
    const taken = await test.workspaces.snapshot('kept', { baseCommit: commit, sinceTree: null, signal: live });
    await opened.release();
    expect(taken.snapshot?.changedFiles).toBe(2);
    const job = join(test.directory, 'work', 'jobs', 'kept');
    expect(await readdir(job)).not.toContainEqual(expect.stringMatching(/^disk-/));

    // a worker that replaces a killed one finds the disk; one on a restarted machine does not
    await writeFile(join(opened.path, 'half written'), 'x');
    for (const prepare of [async () => undefined, () => execute('umount', ['--lazy', opened.path])]) {
      await prepare();
      const again = await open('kept', { workspaces: test.again(), snapshot: taken.snapshot });
      expect((await readdir(again.path)).toSorted()).toEqual(['a.txt', 'folder', 'new']);
      expect(await readFile(join(again.path, 'a.txt'), 'utf8')).toBe('changed\n');
      expect(await mountsBelow(job)).toHaveLength(1);
      await again.release();
    }
    await test.workspaces.remove('kept');
    expect(await mountsBelow(job)).toEqual([]);
    expect(await mountsBelow(join(test.directory, 'work', 'trash'))).toEqual([]);
    expect(await readdir(join(test.directory, 'work', 'trash'))).toEqual([]);
    await expect.poll(async () => (await loopFiles()).join('\n')).not.toContain(job);
  });

  it('is as large as the files that arrive later need', async () => {
    const first = await open('grows');
    const { blocks } = await statfs(first.path);
    await first.release();
    // by a worker without disks
    await using other = await createTestWorkspaces();
    const { snapshot } = await changeTree(
      other.workspaces,
      { repository: repository.path, jobId: 'grows', commit },
      async (path) => {
        for (let at = 0; at < 30; at += 1) await writeFile(join(path, `f${at}`), 'x'.repeat(megabyte));
      },
    );
    const second = await open('grows', { snapshot });
    expect((await readdir(second.path)).length).toBe(32);
    expect((await statfs(second.path)).blocks).toBeGreaterThan(blocks);
    await second.release();
  });

  it('is refused at startup if its space cannot be reserved', async ({ skip }) => {
    await using disk = await mountSmallDisk(8);
    if (disk === null) return skip('this account may not mount a file system');
    const full = join(disk.directory, 'work');
    await disk.fill();
    await expect(mkdir(full).then(() => openJobDisks(full, { growthBytes }))).rejects.toBeInstanceOf(NoJobDisksError);
  });
});
