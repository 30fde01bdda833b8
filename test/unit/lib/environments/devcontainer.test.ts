import { expect, it } from 'vitest';
import { readDevcontainer } from '../../../../lib/environments/devcontainer.ts';

it.each([
  ['service redis start', '( service redis start\n)', []],
  [['redis-server', "--name=it's"], "'redis-server' '--name=it'\\''s'", []],
  [{ db: 'redis &', web: ['make', 'serve'], none: '' }, "( redis &\n)\n'make' 'serve'", []],
  ['cd ${containerWorkspaceFolder} && make', '( cd /tree && make\n)', []],
  ['cd ${localWorkspaceFolder} && make', undefined, ['commands with ${localWorkspaceFolder}']],
  ['', undefined, []],
  [3, undefined, ['postStartCommand']],
])('starts what a devcontainer.json starts: %j', (postStartCommand, start, left) => {
  const { environment, ignored } = readDevcontainer(JSON.stringify({ postStartCommand, postCreateCommand: 'make' }));
  expect(environment).toEqual({ setup: '( make\n)', variables: {}, ...(start === undefined ? {} : { start }) });
  expect(ignored).toEqual(left);
});
