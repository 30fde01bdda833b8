import { chmod, chown, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { makePrivateFolder, userCache } from '../../../lib/private-folder.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let shared: string;
beforeAll(async () => {
  shared = temporaryDirectory();
  await chmod(shared, 0o1777);
});

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

it('creates a folder for its owner only, and accepts it again', async () => {
  const path = join(shared, 'deep', 'own');
  expect(makePrivateFolder(path)).toBe(path);
  expect(await modeOf(path)).toBe(0o700);
  await writeFile(join(path, 'kept'), '');
  makePrivateFolder(path);
  expect(await stat(join(path, 'kept'))).toBeDefined();
});

it('closes its own folder that others could read', async () => {
  const path = join(shared, 'readable');
  await mkdir(path);
  await chmod(path, 0o755);
  makePrivateFolder(path);
  expect(await modeOf(path)).toBe(0o700);
});

it('refuses what others could have filled: a file, a link, a folder that they can write to', async () => {
  const [file, link, open] = ['file', 'link', 'open'].map((name) => join(shared, name)) as [string, string, string];
  await writeFile(file, '');
  await symlink(tmpdir(), link);
  await mkdir(open);
  await chmod(open, 0o777);
  for (const path of [file, link, open])
    expect(() => makePrivateFolder(path)).toThrow(`${path} is not private to this account`);
});

it.skipIf(process.getuid?.() !== 0)('refuses a folder of another account', async () => {
  const path = join(shared, 'foreign');
  await mkdir(path, { mode: 0o700 });
  await chown(path, 65_534, 65_534);
  expect(() => makePrivateFolder(path)).toThrow('not private to this account');
});

it('says how to move a user’s cache that cannot be created', async () => {
  const file = join(shared, 'no-folder');
  await writeFile(file, '');
  expect(() => userCache({ HOME: file })).toThrow(
    /no-folder\/.cache\/docket cannot be created \(\w+\); set XDG_CACHE_HOME/,
  );
});

it('runs no program from a user’s cache that others could have filled', async () => {
  const [own, open] = [join(shared, 'home'), join(shared, 'open-cache')];
  expect(userCache({ HOME: own })).toBe(join(own, '.cache/docket'));
  expect(await modeOf(join(own, '.cache/docket'))).toBe(0o700);
  await mkdir(join(open, 'docket'), { recursive: true });
  await chmod(join(open, 'docket'), 0o777);
  expect(() => userCache({ HOME: own, XDG_CACHE_HOME: open })).toThrow('not private to this account');
});
