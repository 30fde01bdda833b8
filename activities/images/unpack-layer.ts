import { createHash } from 'node:crypto';
import { PassThrough, type Readable, type Transform } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import type { ReadEntry } from 'tar';
import type { ImageBudget } from './image-budget.ts';
import { ImageError } from './image-error.ts';
import { readArchive, writeEntry } from './read-archive.ts';
import { namesOf, type RootFolder } from './root-folder.ts';

/** A layer of an image: a compressed archive of what it adds, replaces and removes. */
export interface Layer {
  open(): Readable;
  mediaType: string;
  /** `sha256:` and the hash of the archive without compression. */
  diffId: string;
}

const whiteout = '.wh.';
const opaque = '.wh..wh..opq';

/**
 * Adds a layer to the file system of an image. Devices, pipes, owners, set-user-ID bits and extended attributes are
 * left out. Throws ImageError.
 */
export async function unpackLayer(
  root: RootFolder,
  { open, mediaType, diffId }: Layer,
  { budget, signal }: { budget: ImageBudget; signal: AbortSignal },
): Promise<void> {
  const hash = createHash('sha256');
  try {
    await readArchive({
      source: open(),
      decompress: decompressor(mediaType),
      signal,
      onChunk(chunk) {
        // counts skipped entries as well, because decompressing them takes time
        budget.spend({ bytes: chunk.length });
        hash.update(chunk);
      },
      onEntry: createEntryWriter(root, budget),
    });
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof ImageError || (cause instanceof Error && 'syscall' in cause)) throw cause;
    throw new ImageError('refused', 'A layer of the image is damaged. Push the image again.', { cause });
  }
  if (`sha256:${hash.digest('hex')}` !== diffId)
    throw new ImageError('refused', 'A layer of the image is not the one that the image names. Push the image again.');
}

function createEntryWriter(root: RootFolder, budget: ImageBudget): (entry: ReadEntry) => Promise<void> {
  /** Paths of this layer and the folders above them, which an opaque folder of the layer does not hide. */
  const written = new Set<string>();

  function note(names: readonly string[]): void {
    for (let length = names.length; length > 0; length -= 1) {
      const path = names.slice(0, length).join('/');
      if (written.has(path)) return;
      written.add(path);
    }
  }

  return async (entry) => {
    budget.spend({ entries: 1 });
    const names = namesOf(entry.path);
    const name = names.at(-1);
    if (name === undefined) return;
    const above = names.slice(0, -1).join('/');
    if (name === opaque) return root.clear(above, written);
    if (name.startsWith(whiteout)) return root.remove(`${above}/${hiddenName(name)}`);
    note(names);
    const path = names.join('/');
    switch (entry.type) {
      case 'Directory':
      case 'GNUDumpDir':
        return root.makeFolder(path);
      case 'File':
      case 'OldFile':
      case 'ContiguousFile':
        return writeEntry(await root.makeFile(path, entry.mode ?? 0), entry);
      case 'SymbolicLink':
        return root.makeLink(path, entry.linkpath ?? '');
      case 'Link':
        return root.makeHardLink(path, entry.linkpath ?? '');
      default:
        return;
    }
  };
}

function hiddenName(name: string): string {
  const hidden = name.slice(whiteout.length);
  if (hidden !== '' && hidden !== '.') return hidden;
  throw new ImageError('refused', 'The image removes a file without a name. Use another image.');
}

function decompressor(mediaType: string): Transform {
  if (mediaType.endsWith('gzip')) return createGunzip();
  if (mediaType.endsWith('zstd')) return createZstdDecompress();
  return new PassThrough();
}
