import { expect, it } from 'vitest';
import { describePatch } from '../../../../activities/workspaces/job-snapshot.ts';

/** The least that git reports about a file. */
const heading = `diff --git a/a b/a\nnew file mode 100644\nindex ${'0'.repeat(40)}..${'e'.repeat(40)}\n`;

const size = 5 * 1024 * 1024;

it.each([
  ['of empty files', heading, Math.ceil(size / heading.length)],
  ['of empty lines', '\n', 0],
  ['of one line', 'diff --git ', 1],
  ['of NULs', 'a\0b\0', 0],
])('describes a patch of 5 MB %s without holding the event loop', (_name, line, files) => {
  const bytes = Buffer.alloc(size, line);
  const holdsMs = [1, 2, 3, 4].map(() => {
    const patch = Buffer.from(bytes);
    const before = process.threadCpuUsage();
    describePatch(patch);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  });
  expect(Math.min(...holdsMs)).toBeLessThan(50);
  const { patch, changedFiles } = describePatch(bytes);
  expect(patch).toHaveLength(bytes.length);
  expect(changedFiles).toBe(files);
});

it('counts the files of a patch, and stores no NUL', () => {
  const text = 'diff --git a/a b/a\n+x\0y\n+diff --git c\ndiff --git a/b b/b\n';
  expect(describePatch(Buffer.from(text))).toEqual({ patch: text.replace('\0', '?'), changedFiles: 2 });
  expect(describePatch(Buffer.alloc(0))).toEqual({ patch: '', changedFiles: 0 });
});
