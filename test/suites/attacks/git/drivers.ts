import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestFiles } from '../../../support/git-repository.ts';
import type { Attack } from '../stage/attack.ts';
import { carelessCopy, committed, inCopy } from '../stage/careless-copy.ts';
import { callTool } from '../stage/call-tool.ts';
import { playJob } from '../stage/play.ts';
import { carelessly, type Scene } from '../stage/scene.ts';

/** Leaves `config` and attributes where a careless git reads them, then runs `act` in the copy. */
interface Driver {
  name: string;
  attributes: string;
  config(mark: string): string;
  act(copy: string): Promise<unknown>;
}

const drivers: Driver[] = [
  {
    name: 'a clean filter',
    attributes: '* filter=evil\n',
    config: (mark) => `[filter "evil"]\n\tclean = touch ${mark}; cat\n`,
    act: committed,
  },
  {
    name: 'a smudge filter',
    attributes: '* filter=evil\n',
    config: (mark) => `[filter "evil"]\n\tsmudge = touch ${mark}; cat\n`,
    async act(copy) {
      await rm(join(copy, 'a.txt'));
      await inCopy(copy, 'checkout', '--', 'a.txt');
    },
  },
  {
    name: 'a filter process',
    attributes: '* filter=evil\n',
    config: (mark) => `[filter "evil"]\n\tprocess = touch ${mark}; false\n`,
    act: committed,
  },
  {
    name: 'the filter of LFS, as an installed git-lfs would answer it',
    attributes: '* filter=lfs diff=lfs merge=lfs -text\n',
    config: (mark) => `[filter "lfs"]\n\tsmudge = touch ${mark}; cat\n\tclean = touch ${mark}; cat\n`,
    act: committed,
  },
  {
    name: 'a text conversion for diffs',
    attributes: '* diff=evil\n',
    config: (mark) => `[diff "evil"]\n\ttextconv = touch ${mark}; cat\n`,
    async act(copy) {
      await writeFile(join(copy, 'a.txt'), 'changed\n');
      await inCopy(copy, 'diff');
    },
  },
  {
    name: 'a command for diffs',
    attributes: '* diff=evil\n',
    config: (mark) => `[diff "evil"]\n\tcommand = touch ${mark}; true\n`,
    async act(copy) {
      await writeFile(join(copy, 'a.txt'), 'changed\n');
      await inCopy(copy, 'diff');
    },
  },
  {
    name: 'a merge driver',
    attributes: '* merge=evil\n',
    config: (mark) => `[merge "evil"]\n\tdriver = touch ${mark}; false\n`,
    async act(copy) {
      await inCopy(copy, 'checkout', '-qb', 'side');
      await committed(copy);
      await inCopy(copy, 'checkout', '-q', 'main');
      await writeFile(join(copy, 'a.txt'), 'otherwise\n');
      await inCopy(copy, 'commit', '-qam', 'y');
      await inCopy(copy, 'merge', 'side');
    },
  },
];

const filterAttacks = drivers.map(({ name, attributes, config, act }): Attack => ({
  class: 16,
  name,
  async unprotected(scene) {
    const copy = await carelessCopy(scene, { '.gitattributes': attributes });
    await writeFile(
      join(copy, '.git/config'),
      `${await readFile(join(copy, '.git/config'), 'utf8')}${config(scene.mark)}`,
    );
    await act(copy);
    return scene.ran();
  },
  async product(scene) {
    const files = { '.gitattributes': attributes, '.gitconfig': config(scene.mark), 'a.txt': 'a\n' };
    const repository = await scene.repository(files);
    const tamper = async (tree: string) => {
      await mkdir(join(tree, '.git'), { recursive: true });
      await writeFile(join(tree, '.git/config'), config(scene.mark));
      await writeFile(join(tree, 'a.txt'), 'changed\n');
    };
    await playJob(scene, repository.path, { tamper });
    return scene.ran() || (await repository.read('docket/job'))['a.txt'] !== '100644 changed';
  },
  contained: 'attributes are overruled as a whole, and git reads one configuration: ours',
}));

/** Files that tools run automatically, and the tool. */
const autoRun: [string, TestFiles | ((mark: string) => TestFiles), string, string[]][] = [
  [
    'Makefile',
    (mark) => ({ Makefile: `all:\n\ttouch ${mark}\n` }),
    'sh',
    ['-c', 'eval "$(sed -n "s/^\\t//p" Makefile)"'],
  ],
  [
    '.husky/pre-commit',
    (mark) => ({ '.husky/pre-commit': { executable: `#!/bin/sh\ntouch ${mark}\n` } }),
    'git',
    ['-c', 'core.hooksPath=.husky', 'commit', '--allow-empty', '-m', 'x'],
  ],
  [
    'package.json (prepare)',
    (mark) => ({ 'package.json': JSON.stringify({ name: 'x', scripts: { prepare: `touch ${mark}` } }) }),
    'npm',
    ['run', 'prepare'],
  ],
  [
    '.npmrc (node-options)',
    (mark) => ({
      '.npmrc': 'node-options=--require ./evil.cjs\n',
      'package.json': '{"name":"x","scripts":{"x":"node -e 0"}}',
      'evil.cjs': `require('fs').writeFileSync(${JSON.stringify(mark)}, '')\n`,
    }),
    'npm',
    ['run', 'x'],
  ],
  ['.envrc', (mark) => ({ '.envrc': `touch ${mark}\n` }), 'sh', ['-c', '. ./.envrc']],
  ['.gitconfig', (mark) => ({ '.gitconfig': `[alias]\n\tst = !touch ${mark}\n` }), 'git', ['st']],
];

const autoRunAttacks = autoRun.map(([name, files, command, args]): Attack => {
  const made = (scene: Scene) => (typeof files === 'function' ? files(scene.mark) : files);
  return {
    class: 17,
    name,
    async unprotected(scene) {
      const copy = await carelessCopy(scene, made(scene));
      await carelessly(command, args, { cwd: copy });
      return scene.ran();
    },
    async product(scene) {
      const repository = await scene.repository({ 'a.txt': 'a\n', ...made(scene) });
      await playJob(scene, repository.path, {
        tamper: async (tree) => {
          for (const [tool, input] of [
            ['list', {}],
            ['grep', { pattern: 'touch' }],
            ['glob', { pattern: '**' }],
          ] as const)
            await callTool({ ...scene, tree }, tool, input);
        },
      });
      return scene.ran();
    },
    contained: 'no file of the tree is run or read as configuration outside the sandbox',
  };
});

export const driverAttacks: Attack[] = [...filterAttacks, ...autoRunAttacks];
