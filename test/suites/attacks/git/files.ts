import { execFile, spawn } from 'node:child_process';
import { constants, createReadStream, realpathSync } from 'node:fs';
import { link, lstat, mkdir, open, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isGitName } from '../../../../activities/workspaces/tree-hygiene.ts';
import type { Attack } from '../stage/attack.ts';
import { callTool } from '../stage/call-tool.ts';
import { answered, type Scene } from '../stage/scene.ts';
import { evil, isTouched, outside } from './links.ts';

/** Swaps a folder and a link to the folder outside, as fast as one process can. */
async function swapping(scene: Scene): Promise<void> {
  await mkdir(join(scene.tree, 'x'));
  await writeFile(join(scene.tree, 'x/secret.txt'), 'harmless\n');
  await symlink(outside(scene), join(scene.tree, 'link'));
  const script = `const fs=require('fs');for(;;){try{fs.renameSync('x','y');fs.renameSync('link','x');fs.renameSync('x','link');fs.renameSync('y','x')}catch{}}`;
  const child = spawn(process.execPath, ['-e', script], { cwd: scene.tree, stdio: 'ignore' });
  scene.defer(() => child.kill('SIGKILL'));
}

/** Checks the real path, then swaps, then uses the path. */
async function checkedThenUsed(scene: Scene, use: (path: string) => Promise<unknown>): Promise<unknown> {
  await mkdir(join(scene.tree, 'x'));
  await writeFile(join(scene.tree, 'x/secret.txt'), 'harmless\n');
  const path = join(scene.tree, 'x/secret.txt');
  if (!realpathSync(path).startsWith(realpathSync(scene.tree))) return null;
  await rename(join(scene.tree, 'x'), join(scene.tree, 'y'));
  await symlink(outside(scene), join(scene.tree, 'x'));
  return use(path);
}

const races: Attack[] = (
  [
    ['read', { path: 'x/secret.txt' }, (path: string) => readFile(path, 'utf8')],
    ['write', { path: 'x/secret.txt', content: evil }, (path: string) => writeFile(path, evil)],
    ['delete', { path: 'x/secret.txt' }, (path: string) => rm(path)],
    ['grep', { pattern: 'canary', path: 'x' }, (path: string) => readFile(path, 'utf8')],
  ] as const
).map(([tool, input, use]): Attack => ({
  class: 11,
  name: `${tool} in a folder that is swapped for a link meanwhile`,
  async unprotected(scene) {
    const seen = await checkedThenUsed(scene, use);
    return String(seen).includes(scene.canary) || (await isTouched(scene));
  },
  async product(scene) {
    await swapping(scene);
    for (let tried = 0; tried < 300; tried += 1) {
      const text = await callTool(scene, tool, input);
      if (text.includes(scene.canary) || (await isTouched(scene))) return true;
      if (tool === 'delete') await answered(writeFile(join(scene.tree, 'y/secret.txt'), 'harmless\n', { flag: 'r+' }));
    }
    return false;
  },
  contained:
    'names are looked up in folders that are held open (/proc/self/fd), never by a path that was checked before',
  needs: process.platform === 'linux' ? null : 'Linux',
}));

const limit = 16 * 1024 * 1024;

/** Whether reading a path returns too much, or never ends. */
function readsOn(path: string): Promise<boolean> {
  return new Promise((done) => {
    let size = 0;
    const stream = createReadStream(path);
    const timer = setTimeout(() => finish(true), 1_000);
    const finish = (isEndless: boolean) => {
      clearTimeout(timer);
      stream.destroy();
      // a pipe without a writer is opened for writing, so that the thread behind the stream returns
      open(path, constants.O_RDWR | constants.O_NONBLOCK).then(
        (handle) => handle.close(),
        () => {},
      );
      done(isEndless);
    };
    stream.on('data', (piece) => {
      size += piece.length;
      if (size > limit) finish(true);
    });
    stream.on('end', () => finish(false)).on('error', () => finish(false));
  });
}

const special: [string, (path: string) => Promise<unknown>, string | null][] = [
  ['a named pipe', (path) => promisify(execFile)('mkfifo', [path]), null],
  [
    'a device (/dev/zero)',
    (path) => promisify(execFile)('mknod', [path, 'c', '1', '5']),
    process.getuid?.() === 0 ? null : 'root',
  ],
  ['a link to /dev/zero', (path) => symlink('/dev/zero', path), null],
  [
    'a sparse file of 1 TB',
    async (path) => {
      await using handle = await open(path, 'w');
      await handle.truncate(1e12);
    },
    null,
  ],
];

const endless = special.flatMap(([what, make, needs]) =>
  (
    [
      ['read', { path: 'x' }],
      ['grep', { pattern: 'a' }],
      ['edit', { path: 'x', old: 'a', new: 'b' }],
    ] as const
  ).map(([tool, input]): Attack => ({
    class: 12,
    name: `${tool} of ${what}`,
    async unprotected(scene) {
      await make(join(scene.tree, 'x'));
      return await readsOn(join(scene.tree, 'x'));
    },
    async product(scene) {
      await make(join(scene.tree, 'x'));
      const text = await callTool(scene, tool, input);
      return text.length > 2_000;
    },
    contained: 'regular files of at most 10 MB are opened, without waiting',
    needs,
  })),
);

const hardLinks: Attack[] = [
  {
    class: 12,
    name: 'read of a hard link to a file outside',
    async unprotected(scene) {
      await link(scene.secretFile, join(scene.tree, 'x'));
      return (await readFile(join(scene.tree, 'x'), 'utf8')).includes(scene.canary);
    },
    async product(scene) {
      await link(scene.secretFile, join(scene.tree, 'x'));
      return `${await callTool(scene, 'read', { path: 'x' })}${await callTool(scene, 'grep', { pattern: 'canary' })}`.includes(
        scene.canary,
      );
    },
    contained: 'files with a second name are not opened',
  },
  {
    class: 12,
    name: 'write of a hard link to a file outside',
    async unprotected(scene) {
      await link(scene.secretFile, join(scene.tree, 'x'));
      await writeFile(join(scene.tree, 'x'), evil);
      return await scene.isChanged();
    },
    async product(scene) {
      await link(scene.secretFile, join(scene.tree, 'x'));
      await callTool(scene, 'write', { path: 'x', content: evil });
      return await scene.isChanged();
    },
    contained: 'files with a second name are not opened, and a write makes a new file',
  },
];

/** Whether the tree contains a name that some file system treats as `.git`. */
async function holdsGit({ tree }: Scene): Promise<boolean> {
  return (await readdir(tree)).some(isGitName);
}

const gitNames = [
  '.git',
  '.GIT',
  '.Git',
  '.git ',
  '.git.',
  'git~1',
  'GIT~1',
  '.g\u200cit',
  '.git::$INDEX_ALLOCATION',
].map((name): Attack => ({
  class: 15,
  name: `write of ${JSON.stringify(`${name}/hooks/pre-commit`)}`,
  async unprotected(scene) {
    await mkdir(join(scene.tree, name, 'hooks'), { recursive: true });
    await writeFile(join(scene.tree, name, 'hooks/pre-commit'), '#!/bin/sh\n');
    return await holdsGit(scene);
  },
  async product(scene) {
    await callTool(scene, 'write', { path: `${name}/hooks/pre-commit`, content: '#!/bin/sh\n' });
    await callTool(scene, 'move', { from: 'docs', to: name });
    return (await holdsGit(scene)) || !(await lstat(join(scene.tree, 'docs'))).isDirectory();
  },
  contained: 'no tool takes a path with a name that folds to .git',
}));

export const fileAttacks: Attack[] = [...races, ...endless, ...hardLinks, ...gitNames];
