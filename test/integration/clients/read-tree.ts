import { lstat, readdir, readFile, readlink } from 'node:fs/promises';

/** Returns everything below a directory by path: mode bit, content, link target; directories by their content only. */
export async function readTree(root: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  await walk(Buffer.from(root), Buffer.alloc(0), found);
  return new Map([...found].toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

async function walk(root: Buffer, below: Buffer, found: Map<string, string>): Promise<void> {
  const directory = below.length === 0 ? root : Buffer.concat([root, Buffer.from('/'), below]);
  for (const entry of await readdir(directory, { withFileTypes: true, encoding: 'buffer' })) {
    const name = below.length === 0 ? entry.name : Buffer.concat([below, Buffer.from('/'), entry.name]);
    const path = Buffer.concat([root, Buffer.from('/'), name]);
    const key = name.toString('latin1');
    if (entry.isDirectory()) await walk(root, name, found);
    else if (entry.isSymbolicLink())
      found.set(key, `link ${(await readlink(path, { encoding: 'buffer' })).toString('latin1')}`);
    else if (entry.isFile()) {
      const isExecutable = ((await lstat(path)).mode & 0o100) !== 0;
      found.set(key, `${isExecutable ? 'executable' : 'file'} ${(await readFile(path)).toString('latin1')}`);
    } else found.set(key, 'special');
  }
}
