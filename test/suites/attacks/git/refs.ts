import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestGit } from '../../../support/git.ts';
import { createWorkspaces } from '../../../../activities/workspaces/workspaces.ts';
import type { TestRepository } from '../../../support/git-repository.ts';
import type { Attack } from '../stage/attack.ts';
import { localRootOf, openAsJob } from '../stage/open-as-job.ts';
import { answered, carelessly, type Scene } from '../stage/scene.ts';

async function ownRepository(scene: Scene): Promise<TestRepository> {
  await mkdir(localRootOf(scene));
  const path = join(localRootOf(scene), 'own.git');
  return await scene.repository({ 'README.md': 'own' }, { path });
}

/** Opens a ref past the check of the API; returns what a job would read of it, or null if it is refused. */
function namesRef(scene: Scene, ref: string): Promise<string | null> {
  return openAsJob(scene, join(localRootOf(scene), 'own.git'), { ref });
}

/** Publishes a change to a branch of this name; whether it was refused does not matter. */
async function publishes(scene: Scene, repository: string, branch: string): Promise<void> {
  const { signal } = new AbortController();
  const git = createTestGit({ home: join(scene.directory, 'home'), transports: ['file'] });
  const workspaces = createWorkspaces({ git, directory: join(scene.directory, 'work') });
  const access = { organizationId: 'org_test', repository, credential: null, signal };
  const { commit } = await workspaces.resolve({ ...access, ref: null });
  const opened = await workspaces.open({ ...access, jobId: 'job', baseCommit: commit, snapshot: null });
  await writeFile(join(opened.path, 'edit.txt'), 'edited');
  const { snapshot } = await workspaces.snapshot('job', { baseCommit: commit, sinceTree: null, signal });
  await opened.release();
  const author = { name: 'Docket', email: 'docket@example.com', date: new Date(0) };
  const request = { ...access, jobId: 'job', branch, baseCommit: commit, snapshot: snapshot!, message: 'Edit', author };
  await answered(workspaces.publish({ ...request, published: null, beforePush: async () => {} }));
}

/** Uses the template, with the scene's mark in it, as a ref and as a branch; returns whether it ran as a command. */
async function runsRef(scene: Scene, template: string): Promise<boolean> {
  const { path } = await ownRepository(scene);
  const ref = template.replace('MARK', scene.mark);
  await namesRef(scene, ref);
  await publishes(scene, path, ref);
  return scene.ran();
}

const inShells = [
  'x;touch${IFS}MARK',
  '$(touch${IFS}MARK)',
  '`touch${IFS}MARK`',
  'x|touch${IFS}MARK',
  'x||touch\tMARK',
].map((template): Attack => ({
  class: 7,
  name: `${JSON.stringify(template)}, which a shell would run`,
  async unprotected(scene) {
    const { path } = await ownRepository(scene);
    const ref = template.replace('MARK', scene.mark);
    await carelessly('sh', ['-c', `git --git-dir ${path} rev-parse ${ref}`], { cwd: scene.directory });
    return scene.ran();
  },
  product: (scene) => runsRef(scene, template),
  contained: 'no shell runs between a ref and git; branch names have a strict grammar',
}));

const asOptions = ['--output=MARK', '-oMARK'].map((template): Attack => ({
  class: 7,
  name: `${template}, which git takes for an option`,
  async unprotected(scene) {
    const { path } = await ownRepository(scene);
    const ref = template.replace('MARK', scene.mark);
    const command = template.startsWith('-o') ? 'format-patch' : 'log';
    await carelessly('git', ['--git-dir', path, command, '-1', '-p', '--root', 'main', ref], { cwd: scene.directory });
    return scene.ran();
  },
  product: (scene) => runsRef(scene, template),
  contained: 'refused by the grammar, and sent as refs/heads/… only',
}));

const outOfRefs = ['../../../outside/secret.txt', 'a/../../../../outside/secret.txt'].map((ref): Attack => ({
  class: 7,
  name: `${ref}, which leads out of the folder of refs`,
  async unprotected(scene) {
    const heads = join(scene.directory, 'own.git/refs/heads');
    await mkdir(heads, { recursive: true });
    await mkdir(join(heads, 'a'));
    return (await readFile(join(heads, ref), 'utf8')).includes(scene.canary);
  },
  async product(scene) {
    const { path } = await ownRepository(scene);
    const read = await namesRef(scene, ref);
    await publishes(scene, path, ref);
    return read?.includes(scene.canary) === true || (await scene.isChanged());
  },
  contained: 'no ".." in a ref or a branch',
}));

const injected: Attack[] = [
  {
    class: 7,
    name: 'a line break that adds a command to git update-ref --stdin',
    async unprotected(scene) {
      const { path, git } = await ownRepository(scene);
      const commit = await git('rev-parse', 'main');
      const name = `x ${commit}\ncreate refs/heads/injected`;
      const input = `create refs/heads/${name} ${commit}\n`;
      await carelessly('git', ['--git-dir', path, 'update-ref', '--stdin'], { cwd: scene.directory, input });
      return (await git('for-each-ref')).includes('injected');
    },
    async product(scene) {
      const { path, git } = await ownRepository(scene);
      const commit = await git('rev-parse', 'main');
      await publishes(scene, path, `x ${commit}\ncreate refs/heads/injected`);
      return (await git('for-each-ref')).includes('injected');
    },
    contained: 'no control character in a branch',
  },
  {
    class: 7,
    name: 'main.lock, which blocks the branch it is named after',
    async unprotected(scene) {
      const { path, git } = await ownRepository(scene);
      await mkdir(join(path, 'refs/heads'), { recursive: true });
      await writeFile(join(path, 'refs/heads', 'main.lock'), '');
      return (await answered(git('update-ref', 'refs/heads/main', 'HEAD', 'HEAD'))) === null;
    },
    async product(scene) {
      const { path, git } = await ownRepository(scene);
      await publishes(scene, path, 'main.lock');
      return (await answered(git('update-ref', 'refs/heads/main', 'HEAD', 'HEAD'))) === null;
    },
    contained: 'no part of a branch ends with .lock',
  },
  {
    class: 7,
    name: 'an ideographic space (U+3000) that a splitter takes for one',
    async unprotected(scene) {
      const { path } = await ownRepository(scene);
      const words = `main\u3000--output=${scene.mark}`.split(/\s+/);
      await carelessly('git', ['--git-dir', path, 'log', '-p', ...words], { cwd: scene.directory });
      return scene.ran();
    },
    async product(scene) {
      await ownRepository(scene);
      await namesRef(scene, `main\u3000--output=${scene.mark}`);
      return scene.ran();
    },
    contained: 'no kind of blank in a ref',
  },
];

/** A repository with a commit that contains the canary and is on no branch. */
async function hiddenCommit(scene: Scene, ref: string | null): Promise<{ path: string; commit: string }> {
  const repository = await ownRepository(scene);
  const commit = await repository.commit({ 'secret.txt': scene.canary }, { branch: 'hidden' });
  if (ref !== null) await repository.git('update-ref', ref, commit);
  await repository.git('update-ref', '-d', 'refs/heads/hidden');
  await repository.git('config', 'uploadpack.allowAnySHA1InWant', 'true');
  return { path: repository.path, commit };
}

const fetchesCanary = async (scene: Scene, path: string, ref: string) => {
  const cwd = scene.directory;
  await carelessly('git', ['init', '-q', 'copy'], { cwd });
  await carelessly('git', ['-C', 'copy', 'fetch', path, ref], { cwd });
  return (await carelessly('git', ['-C', 'copy', 'show', 'FETCH_HEAD:secret.txt'], { cwd })).includes(scene.canary);
};

const unheld: Attack[] = [
  {
    class: 8,
    name: 'the id of a commit in another user’s fork',
    async unprotected(scene) {
      const { path, commit } = await hiddenCommit(scene, null);
      return await fetchesCanary(scene, path, commit);
    },
    async product(scene) {
      const { commit } = await hiddenCommit(scene, null);
      return (await namesRef(scene, commit)) !== null;
    },
    contained: 'a commit counts only when a branch or a tag holds it',
  },
  ...['refs/pull/1/head', 'refs/docket/x', 'refs/notes/x'].map((ref): Attack => ({
    class: 8,
    name: `${ref}, which anybody may push to`,
    async unprotected(scene) {
      const { path } = await hiddenCommit(scene, ref);
      return await fetchesCanary(scene, path, ref);
    },
    async product(scene) {
      await hiddenCommit(scene, ref);
      return (await answered(namesRef(scene, ref))) !== null;
    },
    contained: 'only branches and tags are looked up',
  })),
  {
    class: 8,
    name: 'a default branch that is none (HEAD leads to a pull request)',
    async unprotected(scene) {
      const { path } = await hiddenCommit(scene, 'refs/pull/1/head');
      await carelessly('git', ['--git-dir', path, 'symbolic-ref', 'HEAD', 'refs/pull/1/head'], {
        cwd: scene.directory,
      });
      return await fetchesCanary(scene, path, 'HEAD');
    },
    async product(scene) {
      const { path } = await hiddenCommit(scene, 'refs/pull/1/head');
      await carelessly('git', ['--git-dir', path, 'symbolic-ref', 'HEAD', 'refs/pull/1/head'], {
        cwd: scene.directory,
      });
      return (await openAsJob(scene, path)) !== null;
    },
    contained: 'the commit of HEAD must be held by a branch',
  },
  {
    class: 8,
    name: 'an expression that reaches into another commit (<id>:secret.txt)',
    async unprotected(scene) {
      const { path, commit } = await hiddenCommit(scene, null);
      const shown = await carelessly('git', ['--git-dir', path, 'show', `${commit}:secret.txt`], {
        cwd: scene.directory,
      });
      return shown.includes(scene.canary);
    },
    async product(scene) {
      const { commit } = await hiddenCommit(scene, null);
      return (await namesRef(scene, `${commit}:secret.txt`)) !== null;
    },
    contained: 'a ref is a name, not an expression',
  },
];

export const refAttacks: Attack[] = [...inShells, ...asOptions, ...outOfRefs, ...injected, ...unheld];
