import { expect, it } from 'vitest';
import { isGitName, isModulesName } from '../../../../activities/workspaces/tree-hygiene.ts';

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
  'a\\.git',
  'a\\git~1',
  'a\\.git .\\b',
])('recognizes %j as the name of a git directory', (name) => {
  expect(isGitName(name)).toBe(true);
});

it.each(['.gitignore', '.github', '.gitattributes', 'git', '.git-x', 'x.git', 'git~10', '.gitx:', ' .git', ''])(
  'treats %j as an ordinary name',
  (name) => {
    expect(isGitName(name)).toBe(false);
  },
);

it.each([
  '.gitmodules',
  '.GITMODULES .',
  '.git\u200cmodules',
  'gitmod~4',
  'gi7eba~1',
  'gi7ebf~9',
  'gi7eb~12',
  'gi~12345',
  '~1000000',
  'a\\.gitmodules',
])('treats %j as a name that no link may have', (name) => {
  expect(isModulesName(name)).toBe(true);
});

it.each(['gitmodules', 'gitmod~5', 'gi~1', '~1', '~0100000', 'gi~123456', '.gitmodules-x'])(
  'lets a link have the name %j',
  (name) => {
    expect(isModulesName(name)).toBe(false);
  },
);
