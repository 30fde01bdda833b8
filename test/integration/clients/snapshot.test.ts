import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../../db/for-worker/snapshots.ts';
import { createTestRepository, runTestGit } from '../../support/git-repository.ts';
import { readTree } from './read-tree.ts';
import { access, changeTree, createTestWorkspaces, live } from './setup.ts';
import { fc, propertyRuns } from '../../support/properties.ts';

type Entry =
  | { kind: 'file'; content: Uint8Array; executable: boolean }
  | { kind: 'link'; target: string }
  | { kind: 'gone' };
type Change = { path: Buffer[]; entry: Entry };

const names = [
  'a',
  'B',
  'dir',
  'sub dir',
  '-n',
  '"q"',
  'b\\s',
  'ü',
  'é\u0301',
  '*',
  '$HOME',
  'x\ny',
  '.hidden',
  '#c',
  ':(top)',
];
const odd = Buffer.from([0x66, 0xff, 0xfe, 0x80]);
const name = fc.oneof(
  fc.constantFrom(...names).map((text) => Buffer.from(text)),
  fc.constant(odd),
);
const content = fc.oneof(
  fc.constantFrom('', 'a\n', 'a\r\nb\r\n', '\ufeffx', 'no end', '$Id$\n').map((text) => new TextEncoder().encode(text)),
  fc.uint8Array({ maxLength: 300 }),
);
const entry: fc.Arbitrary<Entry> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('file' as const), content, executable: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('link' as const),
      target: fc.constantFrom('a', '../x', '/etc/passwd', 'no where'),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'gone' as const }) },
);
const changes = fc.array(fc.record({ path: fc.array(name, { minLength: 1, maxLength: 3 }), entry }), { maxLength: 12 });

const slash = Buffer.from('/');
const docket = 'Docket <docket@localhost> 946684800';

/** Applies changes to a directory; a file in the place of a needed directory is replaced. */
async function apply(root: string, list: Change[]): Promise<void> {
  for (const { path, entry } of list) {
    let parent = Buffer.from(root);
    for (const part of path.slice(0, -1)) {
      parent = Buffer.concat([parent, slash, part]);
      await mkdir(parent).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
        await rm(parent).catch(() => {});
        await mkdir(parent).catch(() => {});
      });
    }
    const place = Buffer.concat([parent, slash, path.at(-1)!]);
    await rm(place, { recursive: true, force: true });
    if (entry.kind === 'link') await symlink(entry.target, place);
    if (entry.kind !== 'file') continue;
    await writeFile(place, entry.content);
    await chmod(place, entry.executable ? 0o755 : 0o644);
  }
}

describe('a snapshot', () => {
  it('restores any tree exactly, on another worker, whatever happened to it in between', { tags: 'slow' }, async () => {
    await using repository = await createTestRepository({
      'README.md': '# Lamp\r\n',
      '.gitattributes':
        'a text eol=lf ident filter=lfs diff=x\nB text eol=crlf\ndir text working-tree-encoding=UTF-16LE\n*ü -diff\n',
      'src/tool': { executable: '#!/bin/sh\n' },
      link: { link: 'README.md' },
      empty: '',
    });
    await using here = await createTestWorkspaces();
    await using there = await createTestWorkspaces();
    const { commit } = await here.workspaces.resolve({ ...access(repository.path), ref: null });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(changes, changes, changes, async (first, second, junk) => {
        run += 1;
        const job = { repository: repository.path, jobId: `job-${run}`, commit };
        let from: Snapshot | null = null;
        for (const list of [first, second]) {
          let wanted = new Map<string, string>();
          const taken = await changeTree(here.workspaces, { ...job, from }, async (path) => {
            await apply(path, list);
            wanted = await readTree(path);
          });
          from = taken.snapshot ?? from;
          expect(from?.tree ?? taken.tree).toBe(taken.tree);
          for (const { workspaces } of [here, there]) {
            const opened = await workspaces.open({
              ...access(job.repository),
              jobId: job.jobId,
              baseCommit: commit,
              snapshot: from,
            });
            expect(await readTree(opened.path)).toEqual(wanted);
            await apply(opened.path, junk); // left over by a killed batch
            await opened.release();
          }
        }
        await here.workspaces.remove(job.jobId);
        await there.workspaces.remove(job.jobId);
      }),
      { numRuns: propertyRuns(25), endOnFailure: true },
    );
  });

  it('is the same commit, pack and patch for the same change, and null for none', async () => {
    await using repository = await createTestRepository();
    const taken = [];
    for (const jobId of ['one', 'two']) {
      await using test = await createTestWorkspaces();
      const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: 'main' });
      const job = { repository: repository.path, jobId, commit };
      expect(await changeTree(test.workspaces, job, async () => {})).toMatchObject({ snapshot: null });
      taken.push(await changeTree(test.workspaces, job, (path) => writeFile(`${path}/new.md`, 'new\n')));
      const made = taken.at(-1)?.snapshot?.commit ?? '';
      const inJob = ['--git-dir', join(test.directory, 'work/jobs', jobId, 'git')];
      await runTestGit([...inJob, 'fsck', '--strict', made], { cwd: test.directory });
      const format = '--format=%P %T|%an <%ae> %at|%cn <%ce> %ct|%s';
      expect(await runTestGit([...inJob, 'log', '-1', format, made], { cwd: test.directory })).toBe(
        `${commit} ${taken.at(-1)?.tree}|${docket}|${docket}|Working copy`,
      );
    }
    expect(taken[0]).toEqual(taken[1]);
    expect(taken[0]?.snapshot).toMatchObject({
      changedFiles: 1,
      additions: 1,
      deletions: 0,
      baseCommit: await repository.git('rev-parse', 'main'),
    });
    expect(taken[0]?.snapshot?.patch).toContain('+new\n');
  });

  it('detects an edit of the same size within the same second', async () => {
    await using repository = await createTestRepository({ 'a.txt': 'aaaa\n' });
    await using test = await createTestWorkspaces();
    const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
    const job = { repository: repository.path, jobId: 'j', commit };
    let from: Snapshot | null = null;
    for (const text of ['bbbb\n', 'cccc\n', 'dddd\n']) {
      ({ snapshot: from } = await changeTree(test.workspaces, { ...job, from }, (path) =>
        writeFile(`${path}/a.txt`, text),
      ));
      expect(from?.patch).toContain(`+${text}`);
    }
    const opened = await test.workspaces.open({
      ...access(job.repository),
      jobId: 'j',
      baseCommit: commit,
      snapshot: from,
    });
    await writeFile(`${opened.path}/a.txt`, 'eeee\n');
    await opened.release();
    const again = await test.workspaces.open({
      ...access(job.repository),
      jobId: 'j',
      baseCommit: commit,
      snapshot: from,
    });
    expect((await readTree(again.path)).get('a.txt')).toBe('file dddd\n');
    await again.release();
  });

  it('leaves ignored files out', async () => {
    await using repository = await createTestRepository({ '.gitignore': 'build/\n', a: 'a' });
    await using test = await createTestWorkspaces();
    const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
    const { snapshot } = await changeTree(
      test.workspaces,
      { repository: repository.path, jobId: 'j', commit },
      async (path) => {
        await mkdir(`${path}/build`);
        await writeFile(`${path}/build/out`, 'x');
      },
    );
    expect(snapshot).toBeNull();
  });

  it('uses at most six git processes for a batch that changes files', async () => {
    await using repository = await createTestRepository();
    await using test = await createTestWorkspaces();
    const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
    const job = { repository: repository.path, jobId: 'j', commit };
    const { snapshot } = await changeTree(test.workspaces, job, (path) => writeFile(`${path}/a`, 'a'));
    test.calls.length = 0;
    await changeTree(test.workspaces, { ...job, from: snapshot }, (path) => writeFile(`${path}/a`, 'b'));
    expect(test.calls.length).toBeLessThanOrEqual(6);
  });

  it('lists the files of a change too large for a patch', async () => {
    await using repository = await createTestRepository();
    await using test = await createTestWorkspaces();
    const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
    const line = `${'x'.repeat(1023)}\n`;
    const { snapshot } = await changeTree(
      test.workspaces,
      { repository: repository.path, jobId: 'j', commit },
      (path) => writeFile(`${path}/big.txt`, line.repeat(6 * 1024)),
    );
    expect(snapshot?.patch).toMatch(/^The change is larger than 5 MB; these files differ:\nA\tbig\.txt\n$/);
    expect(snapshot?.changedFiles).toBe(1);
  });

  it('has only the change of its step, as git reports it', async () => {
    const lines = Array.from({ length: 20 }, (_, number) => `line ${number}\n`).join('');
    await using repository = await createTestRepository({ 'moved.txt': lines, image: '\0one', gone: 'gone\n' });
    await using test = await createTestWorkspaces();
    const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
    const job = { repository: repository.path, jobId: 'j', commit };
    const first = await changeTree(test.workspaces, job, (path) => writeFile(`${path}/first.txt`, 'first\n'));
    expect(first.patch).toBe(first.snapshot?.patch);
    const second = await changeTree(test.workspaces, { ...job, from: first.snapshot }, async (path) => {
      await rename(`${path}/moved.txt`, `${path}/elsewhere ü.txt`);
      await writeFile(`${path}/image`, '\0two');
      await rm(`${path}/gone`);
    });
    const inJob = ['--git-dir', join(test.directory, 'work/jobs/j/git')];
    const theirs = ['diff-tree', '-p', '-r', '-M', '--full-index', first.tree, second.tree];
    expect(second.patch).toBe(`${await runTestGit([...inJob, ...theirs], { cwd: test.directory })}\n`);
    expect(second.patch).toContain('Binary files a/image and b/image differ');
    expect(second.patch).not.toContain('first.txt');
    const large = await changeTree(test.workspaces, { ...job, from: second.snapshot }, (path) =>
      writeFile(`${path}/big.txt`, 'x'.repeat(2 ** 20)),
    );
    expect(large.patch).toBe('The change is larger than 1 MB; these files differ:\nA\tbig.txt\n');
    const back = await changeTree(test.workspaces, { ...job, from: large.snapshot }, async (path) => {
      await rm(path, { recursive: true });
      await mkdir(path);
      await writeFile(`${path}/moved.txt`, lines);
      await writeFile(`${path}/image`, '\0one');
      await writeFile(`${path}/gone`, 'gone\n');
    });
    expect(back).toMatchObject({ snapshot: { patch: '' }, patch: expect.stringContaining('larger than 1 MB') });
  });

  it('answers aborted for a stopped job', async () => {
    await using repository = await createTestRepository();
    await using test = await createTestWorkspaces();
    const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
    const opened = await test.workspaces.open({
      ...access(repository.path),
      jobId: 'j',
      baseCommit: commit,
      snapshot: null,
    });
    const stopped = { baseCommit: commit, sinceTree: null, signal: AbortSignal.abort() };
    await expect(test.workspaces.snapshot('j', stopped)).rejects.toMatchObject({ kind: 'aborted' });
    await opened.release();
    await expect(test.workspaces.snapshot('j', { ...stopped, signal: live })).rejects.toMatchObject({ kind: 'other' });
  });
});
