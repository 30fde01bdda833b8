import { defaultTreeLimits } from '../../../activities/workspaces/tree-limits.ts';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTestGit } from '../../support/git.ts';
import { jobDirectoryOf } from '../../../activities/workspaces/job-directory.ts';
import { mergeCommits, mergeTrees, mergeTreesYielding } from '../../../activities/workspaces/merge-trees.ts';
import { createTestRepository, type TestFiles } from '../../support/git-repository.ts';
import { live } from '../clients/setup.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const begin = { 'README.md': '# Lamp\n', 'a.txt': '1\n2\n3\n4\n5\n', 'dir/b.txt': 'b\n', 'run.sh': 'run\n' };

it.each<[string, { ours: TestFiles; theirs: TestFiles; tree: Record<string, string>; overruled: string[] }]>([
  [
    'both changes where they are apart',
    {
      ours: { 'a.txt': 'one\n2\n3\n4\n5\n', 'own.txt': 'own\n' },
      theirs: { 'a.txt': '1\n2\n3\n4\nfive\n', 'theirs.txt': 'theirs\n' },
      tree: { 'a.txt': '100644 one\n2\n3\n4\nfive', 'own.txt': '100644 own', 'theirs.txt': '100644 theirs' },
      overruled: [],
    },
  ],
  [
    'their version of a file that both changed in the same place, and the rest of ours',
    {
      ours: { 'a.txt': 'ours\n2\n3\n4\n5\n', 'own.txt': 'own\n' },
      theirs: { 'a.txt': 'theirs\n2\n3\n4\n5\n' },
      tree: { 'a.txt': '100644 theirs\n2\n3\n4\n5', 'own.txt': '100644 own' },
      overruled: ['a.txt'],
    },
  ],
  [
    'no file that they removed and ours changed, and their change of one that ours removed',
    {
      ours: { 'a.txt': 'ours\n', 'dir/b.txt': null },
      theirs: { 'a.txt': null, 'dir/b.txt': 'theirs\n' },
      tree: { 'dir/b.txt': '100644 theirs' },
      overruled: ['a.txt', 'dir/b.txt'],
    },
  ],
  [
    'their new file where both made one, with its mode',
    {
      ours: { 'new é.sh': 'ours\n' },
      theirs: { 'new é.sh': { executable: 'theirs\n' } },
      tree: { 'new é.sh': '100755 theirs' },
      overruled: ['new é.sh'],
    },
  ],
  [
    'all of theirs where a file is in the way of a folder',
    {
      ours: { 'new/ours.txt': 'ours\n', 'own.txt': 'own\n' },
      theirs: { new: 'theirs\n' },
      tree: { new: '100644 theirs' },
      overruled: [expect.stringMatching(/^new~/) as unknown as string],
    },
  ],
])('a merge that yields has %s', async (_, { ours, theirs, tree, overruled }) => {
  await using repository = await createTestRepository(begin);
  const directory = temporaryDirectory();
  const git = createTestGit({ home: join(directory, 'home') });
  const treeOf = async (branch: string, files: TestFiles) => {
    await repository.git('update-ref', `refs/heads/${branch}`, 'main');
    return repository.git('rev-parse', `${await repository.commit(files, { branch })}^{tree}`);
  };
  const request = {
    job: { ...jobDirectoryOf(directory, 'job'), gitDir: repository.path },
    base: await repository.git('rev-parse', 'main^{tree}'),
    ours: await treeOf('ours', ours),
    theirs: await treeOf('theirs', theirs),
    limits: defaultTreeLimits,
    signal: live,
  };
  const merged = await mergeTreesYielding(git, request);
  expect(merged.overruled).toEqual(overruled);
  const unchanged = Object.keys(begin).filter((path) => !(path in ours) && !(path in theirs));
  const kept = Object.entries(await repository.read('main')).filter(([path]) => unchanged.includes(path));
  const before = Object.fromEntries(kept);
  expect(await repository.read(merged.tree)).toEqual({ ...before, ...tree });
  const strict = mergeTrees(git, request);
  if (overruled.length === 0) expect(await strict).toBe(merged.tree);
  else await expect(strict).rejects.toMatchObject({ kind: 'rejected' });
});

it('keeps names apart that are not UTF-8', async () => {
  await using repository = await createTestRepository({ a: 'a\n', b: 'b\n', c: 'c\n' });
  const directory = temporaryDirectory();
  const treeOf = async (...files: string[]) => {
    const [first, second] = await Promise.all(files.map((name) => repository.git('rev-parse', `main:${name}`)));
    return repository.makeTree(`100644 blob ${first}\t"\\376"\n100644 blob ${second}\t"\\377"\n`);
  };
  const merged = await mergeTreesYielding(createTestGit({ home: join(directory, 'home') }), {
    job: { ...jobDirectoryOf(directory, 'job'), gitDir: repository.path },
    base: await treeOf('a', 'a'),
    ours: await treeOf('b', 'b'),
    theirs: await treeOf('a', 'c'),
    limits: defaultTreeLimits,
    signal: live,
  });
  expect(merged).toEqual({ tree: await treeOf('b', 'c'), overruled: ['\uFFFD'] });
});

it('a merge of commits keeps both sides in the files with conflicts, and says what git could not merge', async () => {
  const bytes = (last: number) => new Uint8Array([0, 1, 2, last]);
  await using repository = await createTestRepository({ ...begin, 'dir/image.bin': bytes(3) });
  const directory = temporaryDirectory();
  const git = createTestGit({ home: join(directory, 'home') });
  await repository.git('update-ref', 'refs/heads/ours', 'main');
  const job = { ...jobDirectoryOf(directory, 'job'), gitDir: repository.path };
  const ours = await repository.commit(
    { 'a.txt': 'ours\n2\n3\n4\n5\n', 'dir/b.txt': 'ours\n', 'dir/image.bin': bytes(4), 'é own.txt': 'own\n' },
    { branch: 'ours' },
  );
  const theirs = await repository.commit({
    'a.txt': 'theirs\n2\n3\n4\nfive\n',
    'dir/b.txt': null,
    'dir/image.bin': bytes(5),
    'é own.txt': 'theirs\n',
  });
  const merged = await mergeCommits(git, { job, limits: defaultTreeLimits, signal: live }, { ours, theirs });
  expect(merged.conflicts).toHaveLength(4);
  expect(merged.messages.map((message) => message.trimEnd())).toEqual([
    'CONFLICT (content): Merge conflict in a.txt',
    `CONFLICT (modify/delete): dir/b.txt deleted in ${theirs} and modified in ${ours}.  Version ${ours} of dir/b.txt left in tree.`,
    `warning: Cannot merge binary files: dir/image.bin (${ours} vs. ${theirs})`,
    'CONFLICT (content): Merge conflict in dir/image.bin',
    'CONFLICT (add/add): Merge conflict in é own.txt',
  ]);
  const files = await repository.read(merged.tree);
  expect(files['a.txt']).toBe(`100644 <<<<<<< ${ours}\nours\n=======\ntheirs\n>>>>>>> ${theirs}\n2\n3\n4\nfive`);
  expect(files).toMatchObject({ 'dir/b.txt': '100644 ours', 'run.sh': '100644 run' });
});
