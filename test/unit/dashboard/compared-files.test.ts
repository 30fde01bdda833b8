import { expect, it } from 'vitest';
import { compareFiles } from '../../../dashboard/compare/compared-changes.tsx';

const changed = (path: string, line: string, { blob = '1..2', at = '-1 +1' } = {}) =>
  `diff --git a/${path} b/${path}\nindex ${blob} 100644\n--- a/${path}\n+++ b/${path}\n@@ ${at} @@\n-old\n+${line}\n`;

const relationsOf = (left: string, right: string) =>
  compareFiles(left, right).map(({ path, relation }) => [path, relation]);

it('tells which job changes a file, and whether both do it in the same way', () => {
  const left = changed('a.md', 'new') + changed('b.md', 'new') + changed('c.md', 'new');
  const right = changed('b.md', 'new') + changed('c.md', 'other') + changed('d.md', 'new');
  expect(relationsOf(left, right)).toEqual([
    ['c.md', 'different'],
    ['a.md', 'left'],
    ['d.md', 'right'],
    ['b.md', 'same'],
  ]);
});

it('takes a change for the same when only the rest of the file differs', () => {
  const left = changed('a.md', 'new');
  const right = changed('a.md', 'new', { blob: '3..4', at: '-9 +12' });
  expect(relationsOf(left, right)).toEqual([['a.md', 'same']]);
});

it('takes binary files for the same only if their contents are', () => {
  const binary = (blob: string) => `diff --git a/a b/a\nindex ${blob} 100644\nBinary files a/a and b/a differ\n`;
  expect(relationsOf(binary('1..2'), binary('1..3'))).toEqual([['a', 'different']]);
  expect(relationsOf(binary('1..2'), binary('1..2'))).toEqual([['a', 'same']]);
});
