import { chmod, lstat, mkdir, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxRoot } from '../sandbox/sandbox-root.ts';
import { mountedFiles } from '../sandbox/profile.ts';
import { helperFolder } from '../sandbox/helpers.ts';
import type { ImageBudget } from './image-budget.ts';
import { ImageError } from './image-error.ts';
import type { ImageLayout } from './image-layout.ts';
import { createRootFolder } from './root-folder.ts';
import { unpackLayer } from './unpack-layer.ts';
import { sizeOfTree } from '../sandbox/tree.ts';

/** Top-level names that the sandbox provides itself. */
const provided = new Set(['dev', 'home', 'proc', 'sys', 'run', 'tmp', 'tree', helperFolder.slice(1)]);
const shells = ['/bin/bash', '/usr/bin/bash', '/bin/sh', '/usr/bin/sh'];
const variableName = /^[A-Za-z_]\w{0,200}$/;
const maxValueLength = 8_000;

/** Unpacks the layers of an image, and returns what the sandbox needs to know about the result. Throws ImageError. */
export async function unpackRoot(
  directory: string,
  { layers, variables }: ImageLayout,
  scope: { budget: ImageBudget; signal: AbortSignal },
): Promise<Omit<SandboxRoot, 'id' | 'directory'> & { bytes: number }> {
  await mkdir(directory);
  await chmod(directory, 0o755);
  const root = createRootFolder(directory);
  for (const layer of layers) await unpackLayer(root, layer, scope);
  return describeRoot(directory, Object.fromEntries(variables.flatMap(parseVariable)));
}

/** Returns what the sandbox needs to know about the file system of an image, and adds what it mounts over. Throws ImageError. */
export async function describeRoot(
  directory: string,
  variables: SandboxRoot['variables'],
): Promise<Omit<SandboxRoot, 'id' | 'directory'> & { bytes: number }> {
  const root = createRootFolder(directory);
  let shell: string | undefined;
  for (const path of shells) if (shell === undefined && (await root.typeOf(path)) === 'file') shell = path;
  if (shell === undefined) throw new ImageError('refused', 'The image has no /bin/sh. Use one with a shell.');
  await ensureMountedFiles(directory);
  const names = (await readdir(directory)).filter((name) => !provided.has(name));
  const entries = await Promise.all(names.map((name) => entryOf(directory, name)));
  return {
    entries: entries.filter((entry) => entry !== null),
    shell,
    variables,
    bytes: await sizeOfTree(directory),
  };
}

/** Adds what the sandbox mounts its own files over, which it can do only where there is a file. */
export async function ensureMountedFiles(directory: string): Promise<void> {
  const root = createRootFolder(directory);
  for (const path of mountedFiles()) await root.ensureFile(path);
}

async function entryOf(directory: string, name: string): Promise<SandboxRoot['entries'][number] | null> {
  const path = join(directory, name);
  const stat = await lstat(path);
  if (stat.isSymbolicLink()) return { path: `/${name}`, link: await readlink(path) };
  return stat.isDirectory() ? { path: `/${name}`, link: null } : null;
}

function parseVariable(text: string): [string, string][] {
  const at = text.indexOf('=');
  const [name, value] = [text.slice(0, at), text.slice(at + 1)];
  const isUsable = variableName.test(name) && value.length <= maxValueLength && !value.includes('\0');
  return isUsable ? [[name, value]] : [];
}
