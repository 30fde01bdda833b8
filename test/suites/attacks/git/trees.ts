import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { addHostileRepository } from '../../../integration/clients/hostile-files.ts';
import type { Attack } from '../stage/attack.ts';
import { carelessCopy, inCopy } from '../stage/careless-copy.ts';
import { playJob } from '../stage/play.ts';
import { answered, carelessly, type Scene } from '../stage/scene.ts';

const plain = ['-c', 'protocol.file.allow=always', '-c', 'protocol.ext.allow=always'];

/** Contents of .gitmodules in a hostile repository, and what a careless clone of it reaches. */
const submodules: [string, (scene: Scene, other: string) => string][] = [
  ['a submodule whose URL is a command (ext::)', (scene) => `ext::touch ${scene.mark}`],
  ['a submodule that is another organization’s repository on this machine', (_, other) => other],
  ['the same as a file:// address', (_, other) => `file://${other}`],
];

const submoduleAttacks = submodules.map(([name, urlOf]): Attack => {
  const prepare = async (scene: Scene) => {
    const other = await scene.repository({ 'secret.txt': scene.canary });
    const url = urlOf(scene, other.path);
    const repository = await scene.repository({
      'a.txt': 'a',
      '.gitmodules': `[submodule "sub"]\n\tpath = sub\n\turl = "${url}"\n`,
    });
    const parent = await repository.git('rev-parse', 'main');
    const link = await other.git('rev-parse', 'main');
    const tree = await repository.makeTree(`${await repository.git('ls-tree', 'main')}\n160000 commit ${link}\tsub\n`);
    const commit = await repository.git('commit-tree', tree, '-p', parent, '-m', 'Submodule');
    await repository.git('update-ref', 'refs/heads/main', commit);
    return repository;
  };
  const holdsSecret = (scene: Scene, tree: string) =>
    carelessly('grep', ['-rl', scene.canary, tree], { cwd: scene.directory }).then((found) => found !== '');
  return {
    class: 14,
    name,
    async unprotected(scene) {
      const { path } = await prepare(scene);
      const copy = join(scene.directory, 'copy');
      await carelessly('git', [...plain, 'clone', '-q', '--recurse-submodules', path, copy], { cwd: scene.directory });
      return scene.ran() || (await holdsSecret(scene, copy));
    },
    async product(scene) {
      const repository = await prepare(scene);
      await playJob(scene, repository.path);
      const isKept = (await repository.git('ls-tree', 'docket/job', 'sub')).startsWith('160000');
      return scene.ran() || !isKept || (await holdsSecret(scene, join(scene.directory, 'work/jobs/job/tree')));
    },
    contained: 'submodules are never looked into; their links stay as they are',
  };
});

const linkedModules: Attack = {
  class: 14,
  name: 'a .gitmodules that is a link out of the tree, made by the agent',
  async unprotected(scene) {
    const copy = await carelessCopy(scene);
    await writeFile(scene.secretFile, '[submodule "x"]\n\tpath = x\n\turl = y\n');
    await symlink(scene.secretFile, join(copy, '.gitmodules'));
    return (await carelessly('git', ['config', '-f', '.gitmodules', '--list'], { cwd: copy })).includes('submodule.x');
  },
  async product(scene) {
    const repository = await scene.repository();
    await playJob(scene, repository.path, {
      tamper: async (tree) => {
        await rm(join(tree, '.gitmodules'), { force: true });
        await symlink(scene.secretFile, join(tree, '.gitmodules'));
      },
    });
    return '.gitmodules' in (await repository.read('docket/job'));
  },
  contained: 'a link of this name never gets into a snapshot',
};

const embedded: Attack[] = [
  {
    class: 15,
    name: 'a repository at .git of the tree, with fsmonitor',
    async unprotected(scene) {
      await addHostileRepository(join(scene.tree, '.git'), scene.mark);
      await carelessly('git', ['status'], { cwd: scene.tree });
      return scene.ran();
    },
    async product(scene) {
      const repository = await scene.repository();
      await playJob(scene, repository.path, { tamper: (tree) => addHostileRepository(join(tree, '.git'), scene.mark) });
      return scene.ran() || Object.keys(await repository.read('docket/job')).some((path) => path.startsWith('.git/'));
    },
    contained: 'git has its own directory outside the tree; what looks like one inside is removed',
  },
  {
    class: 15,
    name: 'a bare repository among the files, with fsmonitor',
    async unprotected(scene) {
      await carelessly('git', ['init', '-q', '--bare', 'bare'], { cwd: scene.tree });
      await carelessly('git', ['--git-dir=bare', 'config', 'core.fsmonitor', `touch ${scene.mark}; false`], {
        cwd: scene.tree,
      });
      await carelessly('git', ['--git-dir=bare', 'config', 'core.bare', 'false'], { cwd: scene.tree });
      await carelessly('git', ['--git-dir=bare', 'config', 'core.worktree', scene.tree], { cwd: scene.tree });
      await carelessly('git', ['status'], { cwd: join(scene.tree, 'bare') });
      return scene.ran();
    },
    async product(scene) {
      const repository = await scene.repository();
      await playJob(scene, repository.path, { tamper: (tree) => addHostileRepository(join(tree, 'bare'), scene.mark) });
      return scene.ran();
    },
    contained: 'git never searches for a repository; its directory is always given',
  },
  {
    class: 15,
    name: 'a file .git that leads to a repository elsewhere (gitdir:)',
    async unprotected(scene) {
      await carelessly('git', ['init', '-q', 'elsewhere'], { cwd: scene.directory });
      const config = join(scene.directory, 'elsewhere/.git/config');
      await writeFile(config, `[core]\n\tfsmonitor = touch ${scene.mark}; false\n`);
      await writeFile(join(scene.tree, '.git'), `gitdir: ${dirname(config)}\n`);
      await carelessly('git', ['status'], { cwd: scene.tree });
      return scene.ran();
    },
    async product(scene) {
      await carelessly('git', ['init', '-q', 'elsewhere'], { cwd: scene.directory });
      const config = join(scene.directory, 'elsewhere/.git/config');
      await writeFile(config, `[core]\n\tfsmonitor = touch ${scene.mark}; false\n`);
      const repository = await scene.repository();
      const tamper = (tree: string) => writeFile(join(tree, '.git'), `gitdir: ${dirname(config)}\n`);
      await playJob(scene, repository.path, { tamper });
      return scene.ran();
    },
    contained: 'git has its own directory outside the tree; what looks like one inside is removed',
  },
];

/** Names and types; git commits none of them, and then commits nothing. */
const stoppers: [string, (path: string) => Promise<void>][] = [
  ['a\\.git', (path) => writeFile(path, 'x')],
  ['a\\git~1', (path) => writeFile(path, 'x')],
  ['a\\.gitmodules', (path) => symlink('a.txt', path)],
  ['~1000000', (path) => symlink('a.txt', path)],
];

const stopped = stoppers.map(([name, tamper]): Attack => ({
  class: 19,
  name: `${JSON.stringify(name)}, which lets every later commit fail`,
  async unprotected(scene) {
    const copy = await carelessCopy(scene);
    await tamper(join(copy, name));
    await writeFile(join(copy, 'edit.txt'), 'x');
    await inCopy(copy, '-c', 'core.protectNTFS=true', 'add', '--all');
    return !(await inCopy(copy, 'ls-files')).includes('edit.txt');
  },
  async product(scene) {
    const repository = await scene.repository();
    await playJob(scene, repository.path, {
      tamper: async (tree) => {
        await rm(join(tree, name), { force: true });
        await tamper(join(tree, name));
      },
    });
    return !('edit.txt' in (await repository.read('docket/job')));
  },
  contained: 'what git refuses is taken out of the tree before it is committed',
}));

const alternates: Attack[] = [
  {
    class: 18,
    name: 'info/alternates in a .git of the agent that leads to objects of another owner',
    async unprotected(scene) {
      const { copy, object } = await borrowed(scene, await carelessCopy(scene));
      return (await inCopy(copy, 'cat-file', 'blob', object)).includes(scene.canary);
    },
    async product(scene) {
      const repository = await scene.repository();
      let object = '';
      const { git, gitDir } = await playJob(scene, repository.path, {
        tamper: async (tree) => void ({ object } = await borrowed(scene, tree)),
      });
      const call = { gitDir, args: ['cat-file', 'blob', object], signal: new AbortController().signal };
      const shown = await answered(git.run(call));
      return shown?.stdout.toString().includes(scene.canary) === true;
    },
    contained: 'the objects of a job are its own and those of its mirror',
  },
  {
    class: 18,
    name: 'a sparse checkout in a .git of the agent that hides files from the commit',
    async unprotected(scene) {
      const copy = await carelessCopy(scene, { 'b.txt': 'b\n' });
      await inCopy(copy, 'config', 'core.sparseCheckout', 'true');
      await mkdir(join(copy, '.git/info'), { recursive: true });
      await writeFile(join(copy, '.git/info/sparse-checkout'), '/a.txt\n');
      await inCopy(copy, 'read-tree', '-mu', 'HEAD');
      return !existsSync(join(copy, 'b.txt'));
    },
    async product(scene) {
      const repository = await scene.repository({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
      await playJob(scene, repository.path, {
        tamper: async (tree) => {
          await mkdir(join(tree, '.git/info'), { recursive: true });
          await writeFile(join(tree, '.git/config'), '[core]\n\tsparseCheckout = true\n');
          await writeFile(join(tree, '.git/info/sparse-checkout'), '/a.txt\n');
        },
      });
      return !('b.txt' in (await repository.read('docket/job')));
    },
    contained: 'git has its own directory outside the tree',
  },
];

async function borrowed(scene: Scene, copy: string): Promise<{ copy: string; object: string }> {
  const other = await scene.repository({ 'secret.txt': scene.canary });
  const object = await other.git('rev-parse', 'main:secret.txt');
  await mkdir(join(copy, '.git/objects/info'), { recursive: true });
  await writeFile(join(copy, '.git/objects/info/alternates'), `${other.path}/objects\n`);
  return { copy, object };
}

export const treeAttacks: Attack[] = [...submoduleAttacks, linkedModules, ...embedded, ...stopped, ...alternates];
