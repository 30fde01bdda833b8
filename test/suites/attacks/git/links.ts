import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Attack } from '../stage/attack.ts';
import { callTool } from '../stage/call-tool.ts';
import { carelessly, type Scene } from '../stage/scene.ts';

/** Puts a link to the folder outside (or to `to`) into the tree. */
async function linkTo(scene: Scene, name: string, to = scene.secretFile): Promise<void> {
  await mkdir(join(scene.tree, name, '..'), { recursive: true });
  await symlink(to, join(scene.tree, name));
}

interface Reading {
  name: string;
  prepare(scene: Scene): Promise<void>;
  careless(scene: Scene): Promise<string>;
  tool: [string, Record<string, unknown>];
  /** Files that must not be read, other than the canary. */
  sought?: string;
}

const inTree = (path: string) => async (scene: Scene) => readFile(join(scene.tree, path), 'utf8');
export const outside = (scene: Scene) => join(scene.directory, 'outside');
const chain = async (scene: Scene) => {
  await linkTo(scene, 'second', scene.secretFile);
  await linkTo(scene, 'first', 'second');
};
const grepped = (path: string) => async (scene: Scene) =>
  carelessly('grep', ['-Rn', 'canary', join(scene.tree, path)], { cwd: scene.tree });

const readings: Reading[] = [
  {
    name: 'read of an absolute link',
    prepare: (s) => linkTo(s, 'x'),
    careless: inTree('x'),
    tool: ['read', { path: 'x' }],
  },
  {
    name: 'read of a relative link',
    prepare: (s) => linkTo(s, 'docs/x', '../../outside/secret.txt'),
    careless: inTree('docs/x'),
    tool: ['read', { path: 'docs/x' }],
  },
  {
    name: 'read through a chain of links',
    prepare: chain,
    careless: inTree('first'),
    tool: ['read', { path: 'first' }],
  },
  {
    name: 'read of a file behind a linked folder',
    prepare: (s) => linkTo(s, 'x', outside(s)),
    careless: inTree('x/secret.txt'),
    tool: ['read', { path: 'x/secret.txt' }],
  },
  {
    name: 'read by way of a link and ".."',
    prepare: (s) => linkTo(s, 'x', join(outside(s), 'folder')),
    careless: async (s) => carelessly('cat', ['x/../secret.txt'], { cwd: s.tree }),
    tool: ['read', { path: 'x/../secret.txt' }],
  },
  {
    name: 'read of the environment of the worker (/proc/self/environ)',
    prepare: (s) => linkTo(s, 'x', '/proc/self/environ'),
    careless: inTree('x'),
    tool: ['read', { path: 'x' }],
    sought: 'PATH=',
  },
  {
    name: 'read of a file by the root of the process (/proc/self/root)',
    prepare: (s) => linkTo(s, 'x', `/proc/self/root${s.secretFile}`),
    careless: inTree('x'),
    tool: ['read', { path: 'x' }],
  },
  {
    name: 'read of an absolute path',
    prepare: async () => {},
    careless: (s) => readFile(s.secretFile, 'utf8'),
    tool: ['read', { path: 'SECRET' }],
  },
  {
    name: 'read of a path with ".."',
    prepare: async () => {},
    careless: inTree('../outside/secret.txt'),
    tool: ['read', { path: '../outside/secret.txt' }],
  },
  {
    name: 'read of a path with ".." in the middle',
    prepare: async () => {},
    careless: inTree('docs/../../outside/secret.txt'),
    tool: ['read', { path: 'docs/../../outside/secret.txt' }],
  },
  {
    name: 'grep of a link',
    prepare: (s) => linkTo(s, 'x'),
    careless: grepped('x'),
    tool: ['grep', { pattern: 'canary', path: 'x' }],
  },
  {
    name: 'grep of the whole tree, with a linked folder in it',
    prepare: (s) => linkTo(s, 'x', outside(s)),
    careless: grepped('.'),
    tool: ['grep', { pattern: 'canary' }],
  },
  {
    name: 'list of a linked folder',
    prepare: (s) => linkTo(s, 'x', outside(s)),
    careless: async (s) => (await readdir(join(s.tree, 'x'))).join(),
    tool: ['list', { path: 'x' }],
    sought: 'secret.txt',
  },
  {
    name: 'glob into a linked folder',
    prepare: (s) => linkTo(s, 'x', outside(s)),
    careless: async (s) => carelessly('find', ['-L', '.', '-name', '*.txt'], { cwd: s.tree }),
    tool: ['glob', { pattern: '**/*.txt' }],
    sought: 'secret.txt',
  },
];

const readAttacks = readings.map(({ name, prepare, careless, tool: [tool, input], sought }): Attack => ({
  class: 9,
  name,
  async unprotected(scene) {
    await prepare(scene);
    return (await careless(scene)).includes(sought ?? scene.canary);
  },
  async product(scene) {
    await prepare(scene);
    const text = await callTool(scene, tool, {
      ...input,
      ...(input['path'] === 'SECRET' ? { path: scene.secretFile } : {}),
    });
    return text.includes(sought ?? scene.canary);
  },
  contained: 'folder by folder from an open root; links are worked out within the tree',
}));

interface Writing {
  name: string;
  prepare(scene: Scene): Promise<void>;
  careless(scene: Scene): Promise<unknown>;
  tool: [string, Record<string, unknown>];
}

const toFolder = (scene: Scene) => linkTo(scene, 'x', outside(scene));
const dangling = (scene: Scene) => linkTo(scene, 'x', join(outside(scene), 'made.txt'));
export const evil = 'evil\n';
const overwritten = (path: string) => (scene: Scene) => writeFile(join(scene.tree, path), evil);

const writings: Writing[] = [
  {
    name: 'write of a link',
    prepare: (s) => linkTo(s, 'x'),
    careless: overwritten('x'),
    tool: ['write', { path: 'x', content: evil }],
  },
  {
    name: 'write of a dangling link',
    prepare: dangling,
    careless: overwritten('x'),
    tool: ['write', { path: 'x', content: evil }],
  },
  {
    name: 'write behind a linked folder',
    prepare: toFolder,
    careless: overwritten('x/secret.txt'),
    tool: ['write', { path: 'x/secret.txt', content: evil }],
  },
  {
    name: 'write of a new file and folder behind a linked folder',
    prepare: toFolder,
    careless: async (s) => {
      await mkdir(join(s.tree, 'x/new'), { recursive: true });
      await writeFile(join(s.tree, 'x/new/made.txt'), evil);
    },
    tool: ['write', { path: 'x/new/made.txt', content: evil }],
  },
  {
    name: 'edit of a link',
    prepare: (s) => linkTo(s, 'x'),
    careless: async (s) => writeFile(join(s.tree, 'x'), (await inTree('x')(s)).replace('canary', 'evil')),
    tool: ['edit', { path: 'x', old: 'canary', new: 'evil' }],
  },
  {
    name: 'multi_edit behind a linked folder',
    prepare: toFolder,
    careless: overwritten('x/secret.txt'),
    tool: ['multi_edit', { path: 'x/secret.txt', edits: [{ old: 'canary', new: 'evil' }] }],
  },
  {
    name: 'delete behind a linked folder',
    prepare: toFolder,
    careless: (s) => rm(join(s.tree, 'x/secret.txt')),
    tool: ['delete', { path: 'x/secret.txt' }],
  },
  {
    name: 'recursive delete of a folder behind a linked one',
    prepare: async (s) => linkTo(s, 'x', s.directory),
    careless: (s) => rm(join(s.tree, 'x/outside'), { recursive: true }),
    tool: ['delete', { path: 'x/outside', recursive: true }],
  },
  {
    name: 'move over a file behind a linked folder',
    prepare: toFolder,
    careless: (s) => rename(join(s.tree, 'docs/page.md'), join(s.tree, 'x/secret.txt')),
    tool: ['move', { from: 'docs/page.md', to: 'x/secret.txt' }],
  },
  {
    name: 'move of a file out from behind a linked folder',
    prepare: toFolder,
    careless: (s) => rename(join(s.tree, 'x/secret.txt'), join(s.tree, 'mine.txt')),
    tool: ['move', { from: 'x/secret.txt', to: 'mine.txt' }],
  },
  {
    name: 'write of a path with ".."',
    prepare: async () => {},
    careless: overwritten('../outside/secret.txt'),
    tool: ['write', { path: '../outside/secret.txt', content: evil }],
  },
];

/** Whether a tool has changed something outside. */
export async function isTouched(scene: Scene): Promise<boolean> {
  const made = ['made.txt', 'new'].some((name) => existsSync(join(outside(scene), name)));
  return made || (await scene.isChanged());
}

const writeAttacks = writings.map(({ name, prepare, careless, tool }): Attack => ({
  class: 10,
  name,
  async unprotected(scene) {
    await prepare(scene);
    await careless(scene);
    return await isTouched(scene);
  },
  async product(scene) {
    await prepare(scene);
    await callTool(scene, ...tool);
    return await isTouched(scene);
  },
  contained: 'no link is followed for writing; files are put in place by one rename in an open folder',
}));

export const linkAttacks: Attack[] = [...readAttacks, ...writeAttacks];
