import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NoJobDisksError, openJobDisks } from '../../../activities/workspaces/job-disks.ts';
import { createWorkspaces } from '../../../activities/workspaces/workspaces.ts';
import { openSandbox } from '../../../activities/sandbox/open-sandbox.ts';
import type { Sandbox } from '../../../activities/sandbox/sandbox.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { createTestGit } from '../../support/git.ts';
import { loopbackEgress } from '../../support/servers/loopback.ts';
import { createTestRepository, type TestRepository } from '../../support/git-repository.ts';
import { testLimits } from '../../support/sandbox/sandbox.ts';
import { startCommandScene } from '../../support/sandbox/command-scene.ts';
import { mountSmallDisk } from '../../support/sandbox/small-disk.ts';
import { access, changeTree, createTestWorkspaces, live, type TestWorkspaces } from '../clients/setup.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { testEngine } from '../../support/sandbox/engine.ts';

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
  (await readFile('/proc/self/mountinfo', 'utf8'))
    .replaceAll('\\040', ' ')
    .split('\n')
    .filter((line) => line.includes(directory));

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
    const opened = await openSandbox({ directory: join(test.directory, 'sandbox'), engine: testEngine, limits });
    if (opened.sandbox === null) throw new Error(opened.problem);
    ({ sandbox } = opened);
  });
  afterAll(async () => {
    for (const jobId of await readdir(join(test.directory, 'work', 'jobs'))) await test.workspaces.remove(jobId);
    await test[Symbol.asyncDispose]();
    await repository[Symbol.asyncDispose]();
  });

  const open = (
    jobId: string,
    { workspaces = test.workspaces, snapshot = null as any, maxBytes = null as number | null } = {},
  ) => workspaces.open({ ...access(repository.path), jobId, baseCommit: commit, snapshot, maxBytes });
  const run = (jobId: string, { path: tree, home }: { path: string; home: string }, command: string) =>
    sandbox.run({ jobId, tree, command, timeoutMs: 60_000, environment: { home }, signal: live });

  it.each([
    ['bytes', 'i=0; while head -c 300K /dev/zero > big-$i; do i=$((i+1)); done'],
    ['bytes of HOME', 'i=0; while head -c 300K /dev/zero > ~/big-$i; do i=$((i+1)); done'],
    ['bytes of both', 'i=0; while head -c 300K /dev/zero > ~/big-$i && cp ~/big-$i .; do i=$((i+1)); done'],
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
    const neighbour = run('other', other, 'head -c 4M /dev/zero > kept; sleep 1; wc -c < kept');
    expect(await run('mine', mine, command)).toMatchObject({ stopped: 'disk', exitCode: null });
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
    expect(await run('kept', opened, 'echo changed > a.txt; mkdir new; echo c > new/c')).toMatchObject({
      exitCode: 0,
    });
    const mounts = await run('kept', opened, 'cat /proc/self/mountinfo');
    expect(mounts.output.head.toString()).not.toContain(test.directory);
    const taken = await test.workspaces.snapshot('kept', { baseCommit: commit, sinceTree: null, signal: live });
    await opened.release();
    expect(taken.snapshot?.changedFiles).toBe(2);
    const job = join(test.directory, 'work', 'jobs', 'kept');
    expect(await readdir(job)).not.toContainEqual(expect.stringMatching(/^disk-/));

    // a worker that replaces a killed one finds the disk; one on a restarted machine does not
    await writeFile(join(opened.path, 'half written'), 'x');
    for (const prepare of [async () => undefined, () => execute('umount', ['--lazy', opened.path, opened.home])]) {
      await prepare();
      const again = await open('kept', { workspaces: test.again(), snapshot: taken.snapshot });
      expect((await readdir(again.path)).toSorted()).toEqual(['a.txt', 'folder', 'new']);
      expect(await readFile(join(again.path, 'a.txt'), 'utf8')).toBe('changed\n');
      expect(await mountsBelow(job)).toHaveLength(2);
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

  it('is as large as the environment of the job allows, and no larger than the operator', async () => {
    const sizeOf = async (maxBytes: number | null) => {
      const opened = await open('bounded', { maxBytes });
      const { blocks, bsize } = await statfs(opened.path);
      expect((await statfs(opened.home)).blocks).toBe(blocks);
      await run('bounded', opened, 'i=0; while head -c 300K /dev/zero > ~/big-$i; do i=$((i+1)); done');
      const written = (await readdir(opened.home)).length * 300 * 1024;
      await execute('find', [opened.home, '-name', 'big-*', '-delete']);
      await opened.release();
      return { size: blocks * bsize, written };
    };
    const small = 10 * megabyte;
    const { size, written } = await sizeOf(small);
    expect(size).toBeLessThan(small + 2 * megabyte);
    expect(written).toBeGreaterThan(small / 2);
    expect(written).toBeLessThan(small + 2 * megabyte);
    // the limit of a later turn replaces the disk, and what was in HOME is gone with it
    for (const larger of [100 * growthBytes, null]) {
      const usual = await sizeOf(larger);
      expect(usual.size).toBeGreaterThan(growthBytes);
      expect(usual.size).toBeLessThan(growthBytes + 4 * megabyte);
    }
    // the same limit keeps it
    const first = await open('bounded');
    await writeFile(join(first.home, 'kept'), 'x');
    await first.release();
    const second = await open('bounded');
    expect(await readdir(second.home)).toContain('kept');
    await second.release();
    await test.workspaces.remove('bounded');
    expect(await mountsBelow(join(test.directory, 'work', 'trash'))).toEqual([]);
  });

  it('loses what an earlier layer left in HOME, and stays', async () => {
    const first = await open('emptied');
    expect(
      await run(
        'emptied',
        first,
        `mkdir -p ~/a/b; touch "$(printf 'caf\\351')" ~/"$(printf 'caf\\351')" ~/a/b/c; chmod 0 ~/a`,
      ),
    ).toMatchObject({ exitCode: 0 });
    await first.release();
    const second = await test.workspaces.open({
      ...access(repository.path),
      jobId: 'emptied',
      baseCommit: commit,
      snapshot: null,
      layer: 'another',
    });
    expect(await readdir(second.home)).toEqual([]);
    expect(await mountsBelow(second.home)).toHaveLength(1);
    await second.release();
  });

  it('holds what setup installed, within the limit of the environment', { tags: ['slow'] }, async () => {
    await using database = await createTestDatabase();
    const directory = temporaryDirectory();
    const disks = await openJobDisks(directory, { growthBytes });
    const git = createTestGit({ home: join(directory, 'home'), transports: ['file'], egress: loopbackEgress });
    const workspaces = createWorkspaces({ git, directory, disks });
    await using scene = await startCommandScene(database, ({ ceilings }) => ({
      workspaces,
      ceilings: { ...ceilings, jobDiskBytes: growthBytes },
    }));
    const { repository: lamp, model, worker } = scene;
    const sizeWith = async (limits: string) => {
      await lamp.commit({ '.docket/environment.yml': `setup: head -c 4M /dev/urandom > ~/installed\n${limits}\n` });
      const input = { command: 'echo "size $(df -B1 --output=size . ~ ~/installed | uniq | tail -n +2 | xargs)."' };
      const finish = { name: 'finish', input: { title: 'Look', summary: 'Looked.' } };
      model.script({ toolCalls: [{ name: 'run', input }] }, { toolCalls: [finish] });
      expect(await worker.runJob({ prompt: 'Look', repository: lamp.path })).toMatchObject({ status: 'completed' });
      return Number(/size (\d+)\./.exec(JSON.stringify(model.requests.at(-1)!.body))?.[1]);
    };
    const bounded = await sizeWith('limits: {diskGb: 0.01}');
    expect(bounded).toBeGreaterThan(8 * megabyte);
    expect(bounded).toBeLessThan(13 * megabyte);
    const usual = await sizeWith('');
    expect(usual).toBeGreaterThan(growthBytes);
    expect(usual).toBeLessThan(growthBytes + 4 * megabyte);

    await lamp.commit({ '.docket/environment.yml': 'setup: head -c 60M /dev/urandom > ~/installed; sleep 3\n' });
    const job = await worker.runJob({ prompt: 'Look', repository: lamp.path });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'setup_failed' });
    expect(job.message).toContain('wrote more than 0.02 GB (DOCKET_JOB_DISK_MB of the worker)');
    for (const name of await readdir(join(directory, 'jobs'))) await workspaces.remove(name);
  });

  it('is refused at startup if its space cannot be reserved', async ({ skip }) => {
    await using disk = await mountSmallDisk(8);
    if (disk === null) return skip('this account may not mount a file system');
    const full = join(disk.directory, 'work');
    await disk.fill();
    await expect(mkdir(full).then(() => openJobDisks(full, { growthBytes }))).rejects.toBeInstanceOf(NoJobDisksError);
  });
});
