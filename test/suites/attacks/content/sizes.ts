import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestGit } from '../../../support/git.ts';
import { jobDirectoryOf } from '../../../../activities/workspaces/job-directory.ts';
import { ownPaths } from '../../../../activities/workspaces/own-paths.ts';
import { removeTree } from '../../../../activities/workspaces/remove-tree.ts';
import { createWorkspaces } from '../../../../activities/workspaces/workspaces.ts';
import type { TestRepository } from '../../../support/git-repository.ts';
import { digDown } from '../../../integration/clients/hostile-files.ts';
import type { Attack } from '../stage/attack.ts';
import { playJob } from '../stage/play.ts';
import { answered, carelessly, type Scene } from '../stage/scene.ts';
import { callTool } from '../stage/call-tool.ts';

const wide = { bytes: 1e9, files: 500, depth: 20 };

/** A tree that contains the same folder ten times, recursively: 10^levels files in a few objects. */
async function bomb(
  repository: TestRepository,
  { levels, content, prefix = '' }: { levels: number; content: string; prefix?: string },
): Promise<void> {
  await repository.commit({ blob: content });
  let entry = (await repository.git('ls-tree', 'main', 'blob')).split('\t')[0]!;
  for (let level = 0; level < levels; level += 1) {
    const lines = Array.from({ length: 10 }, (_, index) => `${entry}\t${prefix}${index}`).join('\n');
    entry = `040000 tree ${await repository.makeTree(`${lines}\n`)}`;
  }
  const commit = await repository.git('commit-tree', entry.split(' ')[2]!, '-m', 'Bomb');
  await repository.git('update-ref', 'refs/heads/main', commit);
}

async function filesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).length;
}

const clonedOf = async (scene: Scene, path: string) => {
  await carelessly('git', ['clone', '-q', path, 'cloned'], { cwd: scene.directory });
  return join(scene.directory, 'cloned');
};
const jobTree = (scene: Scene) => join(scene.directory, 'work/jobs/job/tree');

const bombs: Attack[] = [
  {
    class: 13,
    name: 'a few objects that stand for 1,000 files (and as well for 10^10)',
    async unprotected(scene) {
      const repository = await scene.repository();
      await bomb(repository, { levels: 3, content: 'x' });
      return (await filesBelow(await clonedOf(scene, repository.path))) > wide.files;
    },
    async product(scene) {
      const repository = await scene.repository();
      await bomb(repository, { levels: 10, content: 'x' });
      const played = await answered(playJob(scene, repository.path, { limits: wide }));
      return played !== null || (await filesBelow(jobTree(scene))) > 0;
    },
    contained: 'the tree is counted before any of it is written (DOCKET_REPOSITORY_FILES)',
  },
  {
    class: 13,
    name: 'one blob that is checked out a hundred times',
    async unprotected(scene) {
      const repository = await scene.repository();
      await bomb(repository, { levels: 2, content: 'x'.repeat(30_000) });
      const cloned = await clonedOf(scene, repository.path);
      return (await filesBelow(cloned)) >= 100 && (await stat(join(cloned, '0/0'))).size === 30_000;
    },
    async product(scene) {
      const repository = await scene.repository();
      await bomb(repository, { levels: 2, content: 'x'.repeat(30_000) });
      const played = await answered(playJob(scene, repository.path, { limits: { ...wide, bytes: 1_500_000 } }));
      return played !== null || (await filesBelow(jobTree(scene))) > 0;
    },
    contained: 'the sizes of all files are summed before any is written (DOCKET_REPOSITORY_MB)',
  },
  {
    class: 13,
    name: 'a path of 120 folders',
    async unprotected(scene) {
      const repository = await scene.repository({ [`${'d/'.repeat(120)}x`]: 'x' });
      return (await filesBelow(await clonedOf(scene, repository.path))) > 0;
    },
    async product(scene) {
      const repository = await scene.repository({ [`${'d/'.repeat(120)}x`]: 'x' });
      const played = await answered(playJob(scene, repository.path, { limits: wide }));
      return played !== null || (await filesBelow(jobTree(scene))) > 0;
    },
    contained: 'paths have a depth and a length at most (DOCKET_REPOSITORY_DEPTH)',
  },
  {
    class: 13,
    name: 'a blob that is larger than a fetch may bring',
    async unprotected(scene) {
      const repository = await scene.repository({ noise: randomBytes(3_000_000) });
      return (await stat(join(await clonedOf(scene, repository.path), 'noise'))).size > 1_000_000;
    },
    async product(scene) {
      const repository = await scene.repository({ noise: randomBytes(3_000_000) });
      const transfer = { bytes: 1_000_000, timeoutMs: 60_000 };
      const git = createTestGit({ home: join(scene.directory, 'home'), transports: ['file'], transfer });
      const workspaces = createWorkspaces({ git, directory: join(scene.directory, 'work') });
      const { signal } = new AbortController();
      return (
        (await answered(
          workspaces.resolve({
            organizationId: 'org_test',
            repository: repository.path,
            credential: null,
            signal,
            ref: null,
          }),
        )) !== null
      );
    },
    contained: 'no file that a fetch writes may pass the limit (RLIMIT_FSIZE)',
  },
];

/** A change whose list of paths is truncated before the path that matters. */
const hiddenBehindMany: Attack = {
  class: 29,
  name: 'a workflow behind more changes than a list of them takes',
  async unprotected(scene) {
    const { repository, trees } = await manyChanges(scene);
    const args = ['-c', 'safe.directory=*', '--git-dir', repository.path, 'diff-tree', '-r', '--name-only', ...trees];
    return !(await carelessly('git', args, { cwd: scene.directory })).includes('workflows');
  },
  async product(scene) {
    const { repository, trees } = await manyChanges(scene);
    const [base = '', tree = ''] = trees;
    const git = createTestGit({ home: join(scene.directory, 'home'), transports: ['file'] });
    const job = { ...jobDirectoryOf(scene.directory, 'job'), gitDir: repository.path };
    const paths = await answered(ownPaths(git, { job, from: [base], tree, signal: new AbortController().signal }));
    return paths !== null && !paths.some(({ path }) => path.includes('workflows'));
  },
  contained: 'a list that is cut off is a failure, and nothing is pushed',
};

async function manyChanges(scene: Scene): Promise<{ repository: TestRepository; trees: string[] }> {
  const repository = await scene.repository();
  const base = await repository.git('rev-parse', 'main^{tree}');
  await bomb(repository, { levels: 5, content: 'x', prefix: 'n'.repeat(200) });
  const many = await repository.git('rev-parse', 'main^{tree}');
  const file = await repository.git(
    'rev-parse',
    `main:${Array(5)
      .fill(`${'n'.repeat(200)}0`)
      .join('/')}`,
  );
  const folder = await repository.makeTree(`100644 blob ${file}\tevil.yml\n`);
  const github = await repository.makeTree(`040000 tree ${folder}\tworkflows\n`);
  return {
    repository,
    trees: [base, await repository.makeTree(`040000 tree ${many}\t!\n040000 tree ${github}\t.github\n`)],
  };
}

/** Folders too deep for any path, with a file in the deepest. */
const deep: Attack = {
  class: 13,
  name: 'folders of a command so deep that nothing tidies them away',
  async unprotected(scene) {
    await digDown(scene.tree, 2_500);
    await answered(rm(scene.tree, { recursive: true, force: true }));
    const isLeft = existsSync(scene.tree);
    await removeTree(scene.tree);
    return isLeft;
  },
  async product(scene) {
    const repository = await scene.repository();
    await playJob(scene, repository.path, { tamper: (tree) => digDown(tree, 2_500) });
    const isPublished = Object.keys(await repository.read('docket/job')).length !== 2;
    await digDown(jobTree(scene), 2_500);
    const git = createTestGit({ home: join(scene.directory, 'home'), transports: ['file'] });
    await createWorkspaces({ git, directory: join(scene.directory, 'work') }).remove('job');
    const left = await readdir(join(scene.directory, 'work/trash'));
    return isPublished || left.length > 0;
  },
  contained: 'what is deeper than a path may be long is brought nearer and removed',
  isSlow: true,
};

/** A regular expression that takes exponential time on a line that does not match. */
const evilPattern = '(a+)+$';
const evilLine = `${'a'.repeat(40)}!`;

const searches: Attack[] = [
  {
    class: 13,
    name: `grep for ${evilPattern}`,
    unprotected: () =>
      new Promise((done) => {
        const script = `new RegExp(${JSON.stringify(evilPattern)}).test(${JSON.stringify(evilLine)})`;
        execFile(process.execPath, ['-e', script], { timeout: 5_000 }, (error) => done(error?.killed === true));
      }),
    async product(scene) {
      await writeFile(join(scene.tree, 'x'), evilLine);
      return !(await callTool(scene, 'grep', { pattern: evilPattern })).startsWith('No line matches');
    },
    contained: 'an engine without backtracking (RE2)',
  },
  {
    class: 13,
    name: 'a line of 9 MB that fits',
    async unprotected(scene) {
      await writeFile(join(scene.tree, 'x'), `needle${'y'.repeat(9_000_000)}`);
      return (await carelessly('grep', ['-rn', 'needle', '.'], { cwd: scene.tree })).length > 1_000_000;
    },
    async product(scene) {
      await writeFile(join(scene.tree, 'x'), `needle${'y'.repeat(9_000_000)}`);
      const texts = [
        await callTool(scene, 'grep', { pattern: 'needle' }),
        await callTool(scene, 'read', { path: 'x' }),
      ];
      return texts.some((text) => text.length > 60_000);
    },
    contained: 'lines and answers are cut (200 characters, 50 KB)',
  },
  {
    class: 13,
    name: 'a folder of 6,000 entries',
    async unprotected(scene) {
      await fill(join(scene.tree, 'many'));
      return (await carelessly('ls', ['many'], { cwd: scene.tree })).length > 60_000;
    },
    async product(scene) {
      await fill(join(scene.tree, 'many'));
      const texts = [await callTool(scene, 'list', { path: 'many' }), await callTool(scene, 'glob', { pattern: '**' })];
      await rm(join(scene.tree, 'many'), { recursive: true });
      return texts.some((text) => text.length > 60_000);
    },
    contained: 'the first 1,000 entries are shown',
  },
];

async function fill(folder: string): Promise<void> {
  await mkdir(folder);
  for (let at = 0; at < 6_000; at += 500) {
    const names = Array.from({ length: 500 }, (_, index) => `entry-${at + index}`);
    await Promise.all(names.map((name) => writeFile(join(folder, name), '')));
  }
}

export const sizeAttacks: Attack[] = [...bombs, hiddenBehindMany, deep, ...searches];
