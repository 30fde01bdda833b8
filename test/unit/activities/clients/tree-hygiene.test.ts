import { expect, it } from 'vitest';
import { isGitName } from '../../../../activities/clients/tree-hygiene.ts';

it.each([
  '.git',
  '.GIT',
  '.Git',
  '.git ',
  '.git.',
  '.git . .',
  'git~1',
  'GIT~1',
  '.g\u200cit',
  '.git\ufeff',
  '.git:x',
  '.git\\x',
  '.git::$INDEX_ALLOCATION',
])('takes %j for the name of a git directory', (name) => {
  expect(isGitName(name)).toBe(true);
});

it.each(['.gitignore', '.github', '.gitattributes', 'git', '.git-x', 'x.git', 'git~10', '.gitx:', ' .git', ''])(
  'takes %j for an ordinary name',
  (name) => {
    expect(isGitName(name)).toBe(false);
  },
);
