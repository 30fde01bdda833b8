import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, lstat, mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeEach, expect, it } from 'vitest';
import { openOwnFolder } from '../../../worker/own-folder.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let parent: string;
beforeEach(async () => {
  parent = temporaryDirectory();
});

const program = `
  const { openOwnFolder } = await import(${JSON.stringify(import.meta.resolve('../../../worker/own-folder.ts'))});
  const folder = openOwnFolder(process.argv[1]);
  await folder.swept;
  console.log(folder.path);
  // an owner that nothing refers to is collected as garbage, and its lock with it
  setInterval(() => folder, 60_000);`;

/** Opens a folder in a process that is killed; while it lives, `meanwhile` runs. Returns the folder. */
async function openAndKill(meanwhile = async (_path: string) => {}): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, parent], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  try {
    const [path] = (await once(createInterface(child.stdout), 'line')) as [string];
    await meanwhile(path);
    return path;
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
}

it('removes the folders of killed processes, and of no others', { tags: 'slow', timeout: 60_000 }, async () => {
  await using living = openOwnFolder(parent);
  await writeFile(join(living.path, 'used'), '');
  const killed = await openAndKill(async (path) => {
    const home = join(path, 'mcp-1', 'home');
    await mkdir(join(home, 'closed', 'inner'), { recursive: true });
    await chmod(join(home, 'closed'), 0);
    // while it lives, another process leaves it alone
    await using other = openOwnFolder(parent);
    await other.swept;
    expect(await readdir(path)).toEqual(['mcp-1']);
  });
  expect((await lstat(killed)).isDirectory()).toBe(true);
  {
    await using next = openOwnFolder(parent);
    await next.swept;
    const names = [living.path, next.path].flatMap((path) => [path, `${path}.lock`]);
    expect((await readdir(parent)).map((name) => join(parent, name)).toSorted()).toEqual(names.toSorted());
    expect(await readdir(living.path)).toEqual(['used']);
  }
  expect(await readdir(parent)).toHaveLength(2);
});

it('follows no link that lies where its folder was', { tags: 'slow', timeout: 60_000 }, async () => {
  const killed = await openAndKill();
  const elsewhere = join(parent, 'elsewhere');
  await rename(killed, elsewhere);
  await writeFile(join(elsewhere, 'file'), '');
  await symlink(elsewhere, killed);
  await using next = openOwnFolder(parent);
  await next.swept;
  expect(await readdir(elsewhere)).toEqual(['file']);
});
