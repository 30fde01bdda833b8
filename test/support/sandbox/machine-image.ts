import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { openImages } from '../../../activities/images/images.ts';
import type { SandboxRoot } from '../../../activities/sandbox/sandbox-root.ts';
import { architectureOfImages, writeImage } from './oci-image.ts';
import { removeDirectory, temporaryDirectory } from '../temporary-directory.ts';

const execute = promisify(execFile);
const packages = [
  'bash',
  'coreutils',
  'grep',
  'sed',
  'mawk',
  'findutils',
  'util-linux',
  'mount',
  'procps',
  'perl-base',
  'libc-bin',
];
const programs = ['/usr/bin/git', '/usr/bin/curl'];
const library = /^\s*(?:\S+ => )?(\/\S+) \(0x[\da-f]+\)$/gm;

/** An image of this machine's own programs, unpacked as a worker does. */
export interface MachineImage extends AsyncDisposable {
  root: SandboxRoot;
}

/** Name of the archive in its folder. */
export const machineArchive = 'machine.tar';

/** Unpacks the image without a registry; null where it cannot be packed. */
export async function buildMachineImage(): Promise<MachineImage | null> {
  const directory = temporaryDirectory();
  const dispose = () => removeDirectory(directory);
  if (!(await packMachineImage(directory))) {
    await dispose();
    return null;
  }
  const work = join(directory, 'work');
  const images = await openImages({
    directory: work,
    allowed: [{ kind: 'prefix', prefix: 'oci-archive:' }],
    archives: directory,
    pull: null,
    architecture: architectureOfImages,
    limits: { bytes: 2e9, entries: 50_000 },
    totalBytes: 4e9,
  });
  const root = await images.provide(`oci-archive:${machineArchive}`, new AbortController().signal);
  await rm(join(directory, machineArchive));
  // its mode forbids nothing here, as for a worker whose commands run as its own user
  await chmod(join(root.directory, 'usr/local'), 0o777);
  // an ordinary user runs commands in it, too
  for (const path of [directory, work, join(work, 'images'), dirname(root.directory)]) await chmod(path, 0o755);
  return { root, [Symbol.asyncDispose]: dispose };
}

/** Writes the archive of the image to a folder; false where no `dpkg` knows the files of the programs. */
export async function packMachineImage(directory: string): Promise<boolean> {
  const listed = await execute('dpkg', ['-L', ...packages], { maxBuffer: 8 << 20 }).catch(() => null);
  if (listed === null) console.error('No image can be built here. The tests of commands in images are left out.');
  if (listed === null) return false;
  const folder = join(directory, 'files');
  const paths = listed.stdout.split('\n').filter((path) => /^(?:\/usr)?\/(?:s?bin|lib)\/./.test(path));
  const found = [...new Set([...paths, ...programs])];
  const binaries = [...found.filter((path) => /\/s?bin\/|\.so$/.test(path)), process.execPath];
  // some are scripts, for which it exits with 1
  const { stdout } = await execute('ldd', binaries, { maxBuffer: 8 << 20 }).catch((error) => error);
  const libraries = [...stdout.matchAll(library)].map(([, path = '']) => path);
  for (const path of new Set([...found, ...libraries])) await copy(path, path);
  await copy(process.execPath, '/usr/local/bin/node');
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) await symlink(`usr/${name}`, join(folder, name));
  await symlink('bash', join(folder, 'usr/bin/sh'));
  const layer = join(directory, 'layer.tar');
  await execute('tar', ['-C', folder, '-cf', layer, '.']);
  const variables = ['PATH=/usr/local/bin:/usr/bin:/bin', 'HTTP_PROXY=http://192.0.2.1', 'HOME=/root'];
  await writeImage(join(directory, machineArchive), {
    layers: [await readFile(layer)],
    variables,
    isCompressed: false,
  });
  for (const name of ['files', 'layer.tar']) await rm(join(directory, name), { recursive: true });
  return true;

  async function copy(from: string, to: string): Promise<void> {
    const target = join(folder, to.replace(/^\/(bin|sbin|lib|lib64)\//, '/usr/$1/'));
    if ((await stat(from).catch(() => null))?.isFile() !== true) return;
    await mkdir(dirname(target), { recursive: true });
    await cp(from, target, { dereference: true });
  }
}
