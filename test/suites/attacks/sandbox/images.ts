import { execFile } from 'node:child_process';
import { link, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { openImages, type Images } from '../../../../activities/images/images.ts';
import type { SandboxRoot } from '../../../../activities/sandbox/sandbox-root.ts';
import { parseAllowedImages } from '../../../../lib/inputs/image-name.ts';
import {
  architectureOfImages,
  blobsOf,
  shellWithLibraries,
  writeImage,
  type LayerEntry,
  type TestImage,
} from '../../../support/sandbox/oci-image.ts';
import type { Attack } from '../stage/attack.ts';
import { inSandbox, sandboxProblem } from '../stage/in-sandbox.ts';
import { answered, type Scene } from '../stage/scene.ts';

const execute = promisify(execFile);
const limits = { bytes: 8e6, entries: 2_000 };
const shell: LayerEntry = { path: 'bin/sh', content: '#!', mode: 0o755 };

function imagesOf({ directory }: Scene, allowed = 'oci-archive:*'): Promise<Images> {
  return openImages({
    directory: join(directory, 'work'),
    allowed: parseAllowedImages(allowed) ?? [],
    archives: join(directory, 'archives'),
    pull: null,
    architecture: architectureOfImages,
    limits,
    totalBytes: 1e9,
  });
}

/** Unpacks an image as a worker does; null if it is refused. */
async function unpacked(scene: Scene, image: TestImage): Promise<SandboxRoot | null> {
  await mkdir(join(scene.directory, 'archives'), { recursive: true });
  await writeImage(join(scene.directory, 'archives/image.tar'), image);
  const images = await imagesOf(scene);
  return answered(images.provide('oci-archive:image.tar', new AbortController().signal));
}

/** An unpacker that trusts each name and link. */
async function careless(root: string, entries: readonly LayerEntry[]): Promise<string> {
  await mkdir(join(root, 'etc'), { recursive: true });
  for (const { path, type = 'File', content = '', linkpath = '', mode = 0o644 } of entries) {
    const place = path.startsWith('/') ? path : join(root, path);
    await mkdir(dirname(place), { recursive: true });
    const hidden = /^\.wh\.(.+)$/.exec(basename(place))?.[1];
    if (hidden !== undefined) await rm(join(dirname(place), hidden), { recursive: true, force: true });
    else if (type === 'SymbolicLink') await symlink(linkpath, place);
    else if (type === 'Link') await link(linkpath, place);
    else await writeFile(place, content, { mode });
  }
  return root;
}

/** Attacks by the entries of a layer; `reached` looks at the scene, and at the unpacked image if there is one. */
interface LayerAttack {
  name: string;
  entries(scene: Scene): LayerEntry[];
  reached(scene: Scene, root: string | null): Promise<boolean>;
  contained: string;
}

const isGone = async ({ secretFile }: Scene) => (await stat(secretFile).catch(() => null)) === null;
const isWritten = async ({ secretFile, canary }: Scene) => !(await readFile(secretFile, 'utf8')).includes(canary);
/** From the folder of a root to a file of the scene, whichever of the two unpackers made the root. */
const up = '../'.repeat(12);

const byLayer: LayerAttack[] = [
  {
    name: 'a file by a path that leads out',
    entries: ({ secretFile }) => [{ path: `${up}${secretFile}`, content: 'taken' }],
    reached: isWritten,
    contained: 'a path with ".." is refused',
  },
  {
    name: 'a file through a link to a folder outside',
    entries: ({ secretFile }) => [
      { path: 'folder', type: 'SymbolicLink', linkpath: dirname(secretFile) },
      { path: `folder/${basename(secretFile)}`, content: 'taken' },
    ],
    reached: isWritten,
    contained: 'links are followed within the image',
  },
  {
    name: 'a file through a link of its own name',
    entries: ({ secretFile }) => [
      { path: 'file', type: 'SymbolicLink', linkpath: secretFile },
      { path: 'file', content: 'taken' },
    ],
    reached: isWritten,
    contained: 'a file replaces what has its name',
  },
  {
    name: 'a hard link to a secret of the machine',
    entries: ({ secretFile }) => [{ path: 'stolen', type: 'Link', linkpath: secretFile }],
    reached: async ({ canary }, root) =>
      root !== null && (await readFile(join(root, 'stolen'), 'utf8').catch(() => '')).includes(canary),
    contained: 'a hard link leads to a file of the image',
  },
  {
    name: 'a hard link through a link to a folder outside',
    entries: ({ secretFile }) => [
      { path: 'folder', type: 'SymbolicLink', linkpath: dirname(secretFile) },
      { path: 'stolen', type: 'Link', linkpath: secretFile },
    ],
    reached: async ({ canary }, root) =>
      root !== null && (await readFile(join(root, 'stolen'), 'utf8').catch(() => '')).includes(canary),
    contained: 'links are followed within the image',
  },
  {
    name: 'a removal by a path that leads out',
    entries: ({ secretFile }) => [{ path: `${up}${dirname(secretFile)}/.wh.${basename(secretFile)}` }],
    reached: isGone,
    contained: 'a path with ".." is refused',
  },
  {
    name: 'a removal through a link to a folder outside',
    entries: ({ secretFile }) => [
      { path: 'folder', type: 'SymbolicLink', linkpath: dirname(secretFile) },
      { path: `folder/.wh.${basename(secretFile)}` },
    ],
    reached: isGone,
    contained: 'links are followed within the image',
  },
  {
    name: 'a link where the sandbox puts its own file',
    entries: ({ secretFile }) => [{ path: 'etc/passwd', type: 'SymbolicLink', linkpath: secretFile }],
    async reached(scene, root) {
      if (root !== null) await writeFile(join(root, 'etc/passwd'), 'job:x:1000:1000\n');
      return isWritten(scene);
    },
    contained: 'the worker replaces the files that the sandbox mounts over',
  },
  {
    name: 'a program with the rights of its owner',
    entries: () => [{ path: 'bin/root', content: '#!', mode: 0o4755 }],
    reached: async (_scene, root) =>
      root !== null && ((await stat(join(root, 'bin/root')).catch(() => null))?.mode ?? 0) % 0o10000 >= 0o4000,
    contained: 'set-user-ID bits are left out',
  },
  {
    name: 'more bytes than an image may have',
    entries: () => [{ path: 'zeros', content: Buffer.alloc(2 * limits.bytes) }],
    reached: async (_scene, root) =>
      root !== null && ((await stat(join(root, 'zeros')).catch(() => null))?.size ?? 0) > limits.bytes,
    contained: 'a limit on what is decompressed',
  },
  {
    name: 'more files than an image may have',
    entries: () => Array.from({ length: limits.entries + 1 }, (_, index) => ({ path: `many/${index}`, content: '' })),
    reached: async (_scene, root) =>
      root !== null && (await readdir(join(root, 'many')).catch(() => [])).length > limits.entries,
    contained: 'a limit on the number of files',
  },
];

export const imageAttacks: Attack[] = [
  ...byLayer.map(({ name, entries, reached, contained }): Attack => ({
    class: 40,
    name,
    unprotected: async (scene) =>
      reached(scene, await careless(join(scene.directory, 'careless'), entries(scene)).catch(() => null)),
    async product(scene) {
      const root = await unpacked(scene, { layers: [[shell], entries(scene)] });
      return reached(scene, root?.directory ?? null);
    },
    contained,
  })),
  {
    class: 40,
    name: 'a layer that is not the one that the image names',
    unprotected: async () => blobsOf({ layers: [[shell]], diffIds: [`sha256:${'0'.repeat(64)}`] }).blobs.size > 0,
    product: async (scene) =>
      (await unpacked(scene, { layers: [[shell]], diffIds: [`sha256:${'0'.repeat(64)}`] })) !== null,
    contained: 'each layer is compared with its hash',
  },
  {
    class: 40,
    name: 'the archive of another folder',
    unprotected: async ({ directory, secretFile, canary }) =>
      (await readFile(join(directory, 'archives', `${up}${secretFile}`), 'utf8')).includes(canary),
    async product(scene) {
      const images = await imagesOf(scene);
      await writeImage(join(scene.directory, 'secret.tar'), { layers: [[shell]] });
      return (await answered(images.provide('oci-archive:../secret.tar', new AbortController().signal))) !== null;
    },
    contained: 'the name of an archive is a plain name',
  },
  {
    class: 40,
    name: 'an image of a repository whose name begins like an allowed one',
    unprotected: async () => 'ghcr.io/acme-evil/tool'.startsWith('ghcr.io/acme'),
    async product(scene) {
      const images = await imagesOf(scene, 'ghcr.io/acme/*');
      const { signal } = new AbortController();
      const answer = await images.provide('ghcr.io/acme-evil/tool', signal).catch((error: Error) => error.message);
      return (
        answer !== 'The operator does not allow the image ghcr.io/acme-evil/tool:latest. Ask for it in DOCKET_IMAGES.'
      );
    },
    contained: 'a path is compared up to its slash',
  },
  {
    class: 40,
    name: 'a command that changes the image for the next job',
    needs: sandboxProblem,
    async unprotected(scene) {
      const root = join(scene.directory, 'careless');
      await mkdir(root);
      const flags = ['--ro-bind', '/', '/', '--bind', root, '/mnt'];
      await execute('bwrap', [...flags, '--', '/bin/sh', '-c', 'echo evil > /mnt/new']);
      return (await readdir(root)).includes('new');
    },
    async product(scene) {
      const root = await unpacked(scene, { layers: [await shellWithLibraries()] });
      if (root === null) throw new Error('the image was refused');
      const command = 'echo ran > here; for place in /bin /etc / /.docket; do echo evil > $place/new; done';
      await inSandbox(scene, command, { environment: { root } });
      if (!(await readdir(scene.tree)).includes('here')) throw new Error('the command did not run');
      const changed = await readdir(root.directory, { recursive: true });
      return changed.some((path) => basename(path) === 'new');
    },
    contained: 'an image is mounted read-only',
  },
];
