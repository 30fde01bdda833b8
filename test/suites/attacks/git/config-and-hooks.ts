import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hostileConfig } from '../../../integration/clients/hostile-files.ts';
import type { Attack } from '../stage/attack.ts';
import { carelessCopy, committed, inCopy } from '../stage/careless-copy.ts';
import { playJob } from '../stage/play.ts';
import { answered, carelessly } from '../stage/scene.ts';

/** Files that an agent leaves in `.git` for the next command of a careless worker. */
const settings: [string, (mark: string) => string, (copy: string) => Promise<unknown>][] = [
  [
    'core.fsmonitor, run by git status',
    (mark) => `[core]\n\tfsmonitor = touch ${mark}; false\n`,
    (copy) => inCopy(copy, 'status'),
  ],
  ['core.hooksPath, run by git commit', () => '[core]\n\thooksPath = hostile\n', committed],
  [
    'core.sshCommand, run by git fetch',
    (mark) => `[core]\n\tsshCommand = touch ${mark};\n`,
    (copy) => inCopy(copy, 'fetch', 'git@localhost:a/b'),
  ],
  [
    'diff.external, run by git diff',
    (mark) => `[diff]\n\texternal = touch ${mark}; true\n`,
    async (copy) => {
      await writeFile(join(copy, 'a.txt'), 'changed\n');
      await inCopy(copy, 'diff');
    },
  ],
  [
    'gpg.program, run by a signed commit',
    () => `[gpg]\n\tprogram = ./hostile/pre-commit\n[commit]\n\tgpgSign = true\n`,
    committed,
  ],
  [
    'url.insteadOf, which makes a command of the remote',
    (mark) => `[protocol "ext"]\n\tallow = always\n[url "ext::touch ${mark} "]\n\tinsteadOf = /\n`,
    (copy) => inCopy(copy, 'fetch', '/a'),
  ],
  [
    'credential.helper, run by git credential',
    (mark) => `[credential]\n\thelper = !touch ${mark};\n`,
    (copy) => carelessly('git', ['credential', 'fill'], { cwd: copy, input: 'protocol=https\nhost=a.test\n\n' }),
  ],
  [
    'include.path, which brings a configuration in',
    (mark) => `[include]\n\tpath = ../hostile/config\n# ${mark}\n`,
    (copy) => inCopy(copy, 'status'),
  ],
  [
    'core.askPass, run by git credential',
    () => '[core]\n\taskPass = ./hostile/pre-commit\n',
    (copy) => carelessly('git', ['credential', 'fill'], { cwd: copy, input: 'protocol=https\nhost=a.test\n\n' }),
  ],
  ['core.editor', (mark) => `[core]\n\teditor = touch ${mark};\n`, (copy) => inCopy(copy, 'commit', '--allow-empty')],
  ['an alias of a command', (mark) => `[alias]\n\tpublish = !touch ${mark}\n`, (copy) => inCopy(copy, 'publish')],
  [
    'remote.pushurl, which sends the push elsewhere',
    (mark) => `[protocol "ext"]\n\tallow = always\n[remote "origin"]\n\tpushurl = ext::touch ${mark}\n`,
    (copy) => inCopy(copy, 'push', 'origin', 'HEAD:refs/heads/x'),
  ],
];

async function addConfig(tree: string, mark: string, config: string): Promise<void> {
  await mkdir(join(tree, '.git'), { recursive: true });
  const own = existsSync(join(tree, '.git/config')) ? await readFile(join(tree, '.git/config'), 'utf8') : '';
  await writeFile(join(tree, '.git/config'), `${own}${config}`);
  await mkdir(join(tree, 'hostile'), { recursive: true });
  await writeFile(join(tree, 'hostile/config'), `[core]\n\tfsmonitor = touch ${mark}; false\n`);
  await writeFile(join(tree, 'hostile/pre-commit'), `#!/bin/sh\ntouch ${mark}\n`);
  await chmod(join(tree, 'hostile/pre-commit'), 0o755);
}

const configAttacks = settings.map(([name, config, act]): Attack => ({
  class: 19,
  name,
  async unprotected(scene) {
    const copy = await carelessCopy(scene);
    await addConfig(copy, scene.mark, config(scene.mark));
    await act(copy);
    return scene.ran();
  },
  async product(scene) {
    const repository = await scene.repository({ 'a.txt': 'a\n' });
    await playJob(scene, repository.path, { tamper: (tree) => addConfig(tree, scene.mark, config(scene.mark)) });
    return scene.ran();
  },
  contained: 'git has its own directory outside the tree, one configuration and no hooks',
}));

const hooks = [
  'pre-commit',
  'post-checkout',
  'reference-transaction',
  'post-index-change',
  'pre-push',
  'commit-msg',
].map((hook): Attack => ({
  class: 19,
  name: `the hook ${hook}`,
  async unprotected(scene) {
    const copy = await carelessCopy(scene);
    await addHook(join(copy, '.git'), hook, scene.mark);
    await committed(copy);
    await inCopy(copy, 'checkout', '-q', '-b', 'x');
    await inCopy(copy, 'push', '-q', 'origin', 'HEAD:refs/heads/x');
    return scene.ran();
  },
  async product(scene) {
    const repository = await scene.repository({ 'a.txt': 'a\n' });
    await playJob(scene, repository.path, {
      tamper: async (tree) => {
        await addHook(join(tree, '.git'), hook, scene.mark);
        await addHook(tree, hook, scene.mark);
      },
    });
    return scene.ran();
  },
  contained: 'core.hooksPath=/dev/null, and git has its own directory',
}));

async function addHook(gitDir: string, hook: string, mark: string): Promise<void> {
  await mkdir(join(gitDir, 'hooks'), { recursive: true });
  await writeFile(join(gitDir, 'hooks', hook), `#!/bin/sh\ntouch ${mark}\n`);
  await chmod(join(gitDir, 'hooks', hook), 0o755);
}

const served: Attack = {
  class: 19,
  name: 'hooks and commands in a repository on this machine that is fetched from and pushed to',
  async unprotected(scene) {
    const copy = await carelessCopy(scene);
    const target = join(scene.directory, 'bare');
    await carelessly('git', ['clone', '-q', '--bare', copy, target], { cwd: scene.directory });
    await addHook(target, 'post-receive', scene.mark);
    await committed(copy);
    await inCopy(copy, 'push', '-q', target, 'HEAD:refs/heads/x');
    return scene.ran();
  },
  async product(scene) {
    const repository = await scene.repository({ 'a.txt': 'a\n' });
    for (const hook of ['pre-receive', 'update', 'post-receive', 'post-update'])
      await addHook(repository.path, hook, scene.mark);
    await cp(join(repository.path, 'config'), join(repository.path, 'config.before'));
    await writeFile(
      join(repository.path, 'config'),
      `${await readFile(join(repository.path, 'config.before'), 'utf8')}${hostileConfig(scene.mark).replace(/\[include\][^[]*/, '')}`,
    );
    await answered(playJob(scene, repository.path));
    return scene.ran();
  },
  contained: 'the other end of a local path is started without hooks and commands too',
};

export const configAndHookAttacks: Attack[] = [...configAttacks, ...hooks, served];
