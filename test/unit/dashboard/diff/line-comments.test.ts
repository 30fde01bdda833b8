import { expect, it } from 'vitest';
import { buildTree } from '../../../../dashboard/diff/file-tree.tsx';
import {
  commentOn,
  inOrder,
  isOnLine,
  keyOfComment,
  linesOf,
  messageOfComments,
} from '../../../../dashboard/diff/line-comments.ts';
import { readPatch } from '../../../../dashboard/diff/read-patch.ts';

const patch = (added: string) =>
  `diff --git a/a.md b/a.md\n--- a/a.md\n+++ b/a.md\n@@ -9,2 +9,2 @@\n kept\n-old\n+${added}\n`;
const linesIn = (text: string) => linesOf(readPatch(text).files[0]!);

function commentFor(line: string, text: string) {
  return { ...commentOn('a.md', linesIn(patch('new')).get(line)!), text };
}

it('comments become one message with file, line, quote and text, in the order of the lines', () => {
  const comments = [commentFor('I10', 'Better:\nnewer'), commentFor('D10', 'Keep it.'), commentFor('N9', ' Why? ')];
  const gathered = Object.fromEntries(comments.map((comment) => [keyOfComment(comment), comment]));
  expect(messageOfComments(inOrder(gathered), 7)).toMatch(/^Comments on lines of your earlier pull request #7:\n\n/);
  expect(messageOfComments(inOrder({ ...gathered, deleted: undefined }))).toBe(
    [
      'Comments on lines of your change:',
      'a.md, line 9:\n>   kept\nWhy?',
      'a.md, line 10:\n> + new\nBetter:\nnewer',
      'a.md, removed line 10:\n> - old\nKeep it.',
    ].join('\n\n'),
  );
});

it('a comment belongs to its line only while the line stays the same', () => {
  const comment = commentFor('I10', 'x');
  expect(isOnLine(comment, linesIn(patch('new')))).toBe(true);
  expect(isOnLine(comment, linesIn(patch('newer')))).toBe(false);
});

it('changed files are sorted into folders; a folder that holds only a folder is joined with it', () => {
  const shown = (nodes: ReturnType<typeof buildTree>): unknown[] =>
    nodes.map(({ name, at, children }) => (at === null ? [name, shown(children)] : `${name} ${at}`));
  expect(shown(buildTree(['a.md', 'docs/deep/b.md', 'docs/deep/c.md', 'lib', 'lib/d.ts']))).toEqual([
    'a.md 0',
    ['docs/deep', ['b.md 1', 'c.md 2']],
    'lib 3',
    ['lib', ['d.ts 4']],
  ]);
});
