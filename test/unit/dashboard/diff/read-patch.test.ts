import { expect, it } from 'vitest';
import { readPatch } from '../../../../dashboard/diff/read-patch.ts';

function only(patch: string) {
  const { files } = readPatch(patch);
  expect(files).toHaveLength(1);
  return files[0]!;
}

it('counts the lines of each file', () => {
  const { files, left } = readPatch(
    'diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-old\n+new\n+more\n same\n' +
      'diff --git a/b.txt b/b.txt\nnew file mode 100644\n--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+b\n',
  );
  expect(files.map(({ path, change, additions, deletions }) => [path, change, additions, deletions])).toEqual([
    ['a.txt', 'modify', 2, 1],
    ['b.txt', 'add', 1, 0],
  ]);
  expect(left).toBe(0);
});

it('recognizes renames, deleted and binary files', () => {
  expect(only('diff --git a/x b/y b/x b/z\nsimilarity index 100%\nrename from x b/y\nrename to x b/z\n')).toMatchObject(
    { change: 'rename', oldPath: 'x b/y', path: 'x b/z' },
  );
  expect(
    only('diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n'),
  ).toMatchObject({ change: 'delete', path: 'a', deletions: 1 });
  expect(
    only('diff --git a/a.png b/a.png\nindex 1..2 100644\nBinary files a/a.png and b/a.png differ\n').isBinary,
  ).toBe(true);
});

it('recognizes moved files with changes, changed modes, and empty files that are added or deleted', () => {
  const moved =
    'diff --git a/x b/y\nrename from x\nrename to y\nindex 1..2 100644\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n';
  expect(only(moved)).toMatchObject({ change: 'rename', oldPath: 'x', path: 'y', additions: 1 });
  const runnable = only('diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n');
  expect(runnable).toMatchObject({ change: 'modify', modes: '100644 → 100755', path: 'run.sh' });
  const empty = 'diff --git a/e b/e\nnew file mode 100644\nindex 0..1\n';
  expect(only(empty)).toMatchObject({ change: 'add', path: 'e', modes: null });
  expect(only(empty.replace('new file', 'deleted file'))).toMatchObject({ change: 'delete', path: 'e' });
  expect(
    only('diff --git a/p b/p\nnew file mode 100644\nindex 0..1\nGIT binary patch\nliteral 1\nIc$\n'),
  ).toMatchObject({
    change: 'add',
    isBinary: true,
  });
});

it('parses names that git quotes', () => {
  const patch =
    'diff --git "a/caf\\303\\251.md" "b/caf\\303\\251.md"\n--- "a/caf\\303\\251.md"\n+++ "b/caf\\303\\251.md"\n@@ -1 +1 @@\n-a\n+b\n';
  expect(only(patch).path).toBe('café.md');
  const quotes =
    'diff --git "a/\\"q\\".md" "b/\\"q\\".md"\n--- "a/\\"q\\".md"\n+++ "b/\\"q\\".md"\n@@ -1 +1 @@\n-a\n+b\n';
  expect(only(quotes).path).toBe('"q".md');
});

it('truncates lines that no page can show', () => {
  const line = 'x'.repeat(100_000);
  const file = only(`diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+${line}\n`);
  expect(JSON.stringify(file.hunks).length).toBeLessThan(5_000);
  expect(JSON.stringify(file.hunks)).toContain('(100001 characters)');
});
