import { expect, it } from 'vitest';
import { describePatch } from '../../../../activities/workspaces/job-snapshot.ts';

/** The least that git says of a file. */
const heading = `diff --git a/a b/a\nnew file mode 100644\nindex ${'0'.repeat(40)}..${'e'.repeat(40)}\n`;

it.each([
  ['of empty files', heading],
  ['of empty lines', '\n'],
  ['of one line', 'diff --git '],
])('describes a patch of 20 MB %s without holding the event loop', (_name, line) => {
  const bytes = Buffer.alloc(20 * 1024 * 1024, line);
  describePatch(bytes.subarray(0, 1_000_000));
  const before = process.threadCpuUsage();
  const { patch, changedFiles } = describePatch(bytes);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(100);
  expect(patch).toHaveLength(bytes.length);
  expect(changedFiles).toBe({ [heading]: Math.ceil(bytes.length / line.length), '\n': 0 }[line] ?? 1);
});

it('counts the files of a patch, and stores no NUL', () => {
  const text = 'diff --git a/a b/a\n+x\0y\n+diff --git c\ndiff --git a/b b/b\n';
  expect(describePatch(Buffer.from(text))).toEqual({ patch: text.replace('\0', '\ufffd'), changedFiles: 2 });
  expect(describePatch(Buffer.alloc(0))).toEqual({ patch: '', changedFiles: 0 });
});
