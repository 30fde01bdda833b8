import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { extract } from 'tar';
import { removeDirectory, temporaryDirectory } from '../temporary-directory.ts';

const checkout = resolve(import.meta.dirname, '../../..');

export interface PackedReact extends AsyncDisposable {
  /** A folder with the unpacked package and what it needs of others in `node_modules`. */
  folder: string;
  files: string[];
}

/** Packs `@docket/react` as `npm pack` does, from a copy: a build in the checkout would disturb builds of the dashboard. */
export async function packReact(): Promise<PackedReact> {
  const root = temporaryDirectory();
  const source = join(root, 'source');
  for (const path of ['dashboard/react', 'dashboard/widget', 'lib/check-node.cjs', 'package.json', 'tsconfig.json']) {
    await cp(join(checkout, path), join(source, path), { recursive: true });
  }
  await symlink(join(checkout, 'node_modules'), join(source, 'node_modules'));
  await promisify(execFile)('npm', ['pack', '--pack-destination', root], { cwd: join(source, 'dashboard/react') });
  const archive = (await readdir(root)).find((name) => name.endsWith('.tgz'));
  if (archive === undefined) throw new Error('npm pack made no archive.');

  const folder = join(root, 'consumer');
  const installed = join(folder, 'node_modules/@docket/react');
  await mkdir(installed, { recursive: true });
  await extract({ file: join(root, archive), cwd: installed, strip: 1 });
  for (const name of ['react', 'react-dom', 'ai', '@ai-sdk/react', '@types/react', '@types/react-dom', '@types/node']) {
    const link = join(folder, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(checkout, 'node_modules', name), link);
  }
  return {
    folder,
    files: await readdir(installed, { recursive: true }),
    [Symbol.asyncDispose]: () => removeDirectory(root),
  };
}

/** Checks modules against the types of the package; returns what the compiler prints. */
export async function checkTypes({ folder }: PackedReact, files: string[], options: string[]): Promise<string> {
  const compiler = join(checkout, 'node_modules/typescript/bin/tsc');
  const strict = ['--noEmit', '--strict', '--skipLibCheck', '--jsx', 'react-jsx', '--target', 'es2023'];
  const args = [compiler, ...strict, ...options, ...files];
  return promisify(execFile)(process.execPath, args, { cwd: folder }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
}
