import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { codeOf } from '../../lib/error-code.ts';
import { acquireLock, tryLock } from '../../lib/file-lock.ts';
import type { SandboxRoot } from '../sandbox/sandbox-root.ts';
import { sizeOfTree } from '../sandbox/tree.ts';
import { removeTree } from '../workspaces/remove-tree.ts';
import { createImageBudget, type ImageLimits } from './image-budget.ts';
import { ImageError } from './image-error.ts';
import { copyRoot, sealRoot } from './extend-root.ts';
import { extractImage, readImageLayout, type ImageArchitecture } from './image-layout.ts';
import { isAllowedImage, parseImageName, type AllowedImage, type ImageName } from '../../lib/inputs/image-name.ts';
import { maxPullMs, type PullImage } from './pull-image.ts';
import { describeRoot, ensureMountedFiles, unpackRoot } from './unpack-root.ts';

/** The file systems of images that jobs run in, each unpacked once per work directory. */
export interface Images {
  /** Returns the file system of an image by its name. Throws ImageError. */
  provide(name: string, signal: AbortSignal): Promise<SandboxRoot>;
  /** Returns the file system of an image with more packages; null if it was not made, or removed. */
  extended(root: SandboxRoot, packages: readonly string[]): Promise<SandboxRoot | null>;
  /** Makes it: `install` adds the packages to a copy, in which nothing runs once it has ended. Throws ImageError. */
  extend(root: SandboxRoot, packages: readonly string[], making: Extension): Promise<SandboxRoot>;
}

export interface Extension {
  /** Not called if another job has installed the packages in the meantime. */
  install(copy: string, limits: { addedBytes: number; totalBytes: number }): Promise<void>;
  signal: AbortSignal;
}

export interface ImagesOptions {
  /** May be shared by workers. */
  directory: string;
  allowed: readonly AllowedImage[];
  /** Folder with the archives of images; null for none. */
  archives: string | null;
  /** Null if no program that pulls images is installed. */
  pull: PullImage | null;
  architecture: ImageArchitecture;
  limits: ImageLimits;
  /** Disk space for all images together. */
  totalBytes: number;
  now?: () => number;
}

const storedSchema = z.object({
  entries: z.array(z.object({ path: z.string(), link: z.string().nullable() })),
  shell: z.string(),
  variables: z.record(z.string(), z.string()),
  bytes: z.number(),
});
const namedSchema = z.object({ id: z.string().regex(/^[\da-f]{64}$/), lookedUpAtMs: z.number() });

/** A tag is looked up again after this time, for the jobs that follow; a digest never is. */
const freshMs = 24 * 60 * 60_000;
/** Images used within this time are never removed: a command may run in them. */
const keepUsedMs = 2 * 60 * 60_000;

/** Opens the images of a work directory, and removes what killed workers left unfinished. */
export async function openImages(options: ImagesOptions): Promise<Images> {
  const { allowed, archives, pull, architecture, limits, totalBytes, now = Date.now } = options;
  const directory = join(options.directory, 'images');
  const locks = join(options.directory, 'locks');
  const unfinished = join(directory, 'unfinished');
  for (const folder of [unfinished, locks]) await mkdir(folder, { recursive: true, mode: 0o700 });
  const lockOf = (key: string) => join(locks, `image-${key}.lock`);
  await removeUnfinished();

  async function removeUnfinished(): Promise<void> {
    for (const key of await readdir(unfinished)) {
      using lock = tryLock(lockOf(key));
      if (lock !== null) await removeTree(join(unfinished, key));
    }
  }

  async function storedRoot(id: string): Promise<SandboxRoot | null> {
    const file = join(directory, id, 'image.json');
    const stored = await readStored(file, storedSchema);
    if (stored === null) return null;
    const { entries, shell, variables } = stored;
    await utimes(file, now() / 1000, now() / 1000);
    const root = join(directory, id, 'root');
    // an earlier version may have unpacked it, whose sandbox mounted fewer files
    await ensureMountedFiles(root);
    return { id, directory: root, entries, shell, variables };
  }

  /** Returns the image that a name stood for when it was last looked up. */
  async function storedImage(key: string): Promise<{ root: SandboxRoot; lookedUpAtMs: number } | null> {
    const named = await readStored(join(directory, `${key}.json`), namedSchema);
    const root = named && (await storedRoot(named.id));
    return root && { root, lookedUpAtMs: named.lookedUpAtMs };
  }

  async function nameImage(key: string, id: string): Promise<void> {
    const file = join(directory, `${key}.${randomUUID()}`);
    await writeFile(file, JSON.stringify({ id, lookedUpAtMs: now() }));
    await rename(file, join(directory, `${key}.json`));
  }

  async function obtain(name: ImageName, folder: string, signal: AbortSignal): Promise<void> {
    const budget = createImageBudget(limits);
    if (name.kind === 'archive') {
      if (archives === null)
        throw new ImageError('refused', 'This worker has no archives of images; set DOCKET_IMAGE_DIRECTORY.');
      try {
        return await extractImage(join(archives, name.file), folder, { budget, signal });
      } catch (cause) {
        if (codeOf(cause) !== 'ENOENT') throw cause;
        throw new ImageError('refused', `The image ${name.text} is not in DOCKET_IMAGE_DIRECTORY.`, { cause });
      }
    }
    if (pull === null)
      throw new ImageError('refused', 'This worker cannot pull images; install skopeo, podman or docker.');
    await pull({ name: name.text, folder, budget, limitBytes: limits.bytes, signal });
  }

  /** Gives a folder with the root of an image its name. */
  async function store(id: string, made: string, stored: Awaited<ReturnType<typeof describeRoot>>): Promise<void> {
    await makeRoom(totalBytes - stored.bytes);
    await writeFile(join(made, 'image.json'), JSON.stringify(stored));
    if ((await storedRoot(id)) === null) await removeImage(id);
    await rename(made, join(directory, id)).catch(ignoreExisting);
  }

  /** Pulls and unpacks an image in its own folder, and gives it its name once it is whole. */
  async function add(name: ImageName, key: string, signal: AbortSignal): Promise<SandboxRoot> {
    const folder = join(unfinished, key);
    await removeTree(folder);
    const [layout, made] = [join(folder, 'layout'), join(folder, 'image')];
    for (const path of [layout, made]) await mkdir(path, { recursive: true, mode: 0o700 });
    try {
      await obtain(name, layout, signal);
      const image = await readImageLayout(layout, architecture);
      if ((await storedRoot(image.id)) === null) {
        const stored = await unpackRoot(join(made, 'root'), image, { budget: createImageBudget(limits), signal });
        await store(image.id, made, stored);
      }
      await nameImage(key, image.id);
      const root = await storedRoot(image.id);
      if (root === null) throw new ImageError('unavailable', `The image ${name.text} was removed meanwhile.`);
      return root;
    } finally {
      await removeTree(folder);
    }
  }

  /** Moves the image away first, so that no process sees it half deleted. */
  async function removeImage(id: string): Promise<void> {
    const removed = join(unfinished, randomUUID());
    await rename(join(directory, id), removed).catch(ignoreAbsent);
    await removeTree(removed);
  }

  /** Removes the images that were not used for the longest time, until the rest fits. */
  async function makeRoom(roomBytes: number): Promise<void> {
    const names = (await readdir(directory)).filter((name) => /^[\da-f]{64}$/.test(name));
    const images = await Promise.all(
      names.map(async (id) => {
        const file = join(directory, id, 'image.json');
        const bytes = (await readStored(file, storedSchema))?.bytes ?? 0;
        return { id, bytes, usedAtMs: (await stat(file).catch(() => null))?.mtimeMs ?? 0 };
      }),
    );
    let used = images.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { id, bytes, usedAtMs } of images.toSorted((one, other) => one.usedAtMs - other.usedAtMs)) {
      if (used <= roomBytes || now() - usedAtMs < keepUsedMs) break;
      await removeImage(id);
      used -= bytes;
    }
    if (used > roomBytes)
      throw new ImageError('unavailable', 'The images in use leave no room for another one; raise DOCKET_IMAGES_GB.');
  }

  return {
    async provide(text, signal) {
      signal.throwIfAborted();
      const name = parseImageName(text);
      if (name === null) throw new ImageError('refused', `"${text.slice(0, 200)}" is not the name of an image.`);
      if (!isAllowedImage(allowed, name))
        throw new ImageError(
          'refused',
          `The operator does not allow the image ${name.text}. Ask for it in DOCKET_IMAGES.`,
        );
      const key = createHash('sha256')
        .update(await identityOf(name))
        .digest('hex')
        .slice(0, 32);
      const before = await storedImage(key);
      if (before !== null) {
        const isFixed = name.kind === 'archive' || name.digest !== null;
        if (!isFixed && now() - before.lookedUpAtMs >= freshMs)
          lookUpAgain(name, key, before.root.id).catch(() => undefined);
        return before.root;
      }
      using _lock = await acquireLock(lockOf(key), { signal });
      return (await storedImage(key))?.root ?? (await add(name, key, signal));
    },
    extended: (root, packages) => storedRoot(extendedId(root, packages)),
    async extend(root, packages, { install, signal }) {
      const id = extendedId(root, packages);
      using _lock = await acquireLock(lockOf(id), { signal });
      const before = await storedRoot(id);
      if (before !== null) return before;
      const folder = join(unfinished, id);
      const copy = join(folder, 'root');
      await removeTree(folder);
      await mkdir(folder, { mode: 0o700 });
      try {
        await copyRoot(root, copy, signal);
        const totalBytes = limits.bytes;
        await install(copy, { addedBytes: Math.max(0, totalBytes - (await sizeOfTree(copy))), totalBytes });
        await sealRoot(copy, signal);
        await store(id, folder, await describeRoot(copy, root.variables));
      } finally {
        await removeTree(folder);
      }
      const made = await storedRoot(id);
      if (made === null) throw new ImageError('unavailable', 'The image with its packages was removed meanwhile.');
      return made;
    },
  };

  /** Pulls the current image of a tag. Until then, and if that fails, jobs use the previous image. */
  async function lookUpAgain(name: ImageName, key: string, id: string): Promise<void> {
    using lock = tryLock(lockOf(key));
    if (lock === null) return;
    try {
      await add(name, key, AbortSignal.timeout(maxPullMs));
    } catch {
      await nameImage(key, id).catch(() => undefined);
    }
  }

  /** An archive is another image once its file has changed. */
  async function identityOf(name: ImageName): Promise<string> {
    if (name.kind === 'registry' || archives === null) return name.text;
    const found = await stat(join(archives, name.file)).catch(() => null);
    return `${name.text} ${found?.size} ${found?.mtimeMs}`;
  }
}

/** Returns null for a missing file, and for one that a crash truncated. */
async function readStored<Stored>(file: string, schema: z.ZodType<Stored>): Promise<Stored | null> {
  const text = await readFile(file, 'utf8').catch(() => '');
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

function ignoreAbsent(error: unknown): void {
  if (codeOf(error) !== 'ENOENT') throw error;
}

/** The id of an image names its architecture, too. */
function extendedId({ id }: SandboxRoot, packages: readonly string[]): string {
  const parts = ['packages', id, ...new Set(packages.toSorted())];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Another worker may have unpacked the same image under another name. */
function ignoreExisting(error: unknown): void {
  if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error;
}
