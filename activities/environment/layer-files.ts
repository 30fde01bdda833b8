import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { LayerRef } from '../../db/for-worker/environment-layers.ts';
import { removeTree } from '../workspaces/remove-tree.ts';

export const layerSchema = z.object({ bytes: z.number(), sha256: z.string(), excluded: z.array(z.string()) });
/** Description of a layer, stored beside its archive. */
type Layer = z.infer<typeof layerSchema>;

/** A layer on this machine, in a folder that holds its archive and nothing that could be secret. */
export interface StoredLayer {
  folder: string;
  layer: Layer;
}

export const archiveName = 'layer.tar';
const descriptionName = 'layer.json';
/** A layer that was used within this time may be needed again at once. */
const keepMs = 10 * 60_000;
/** Time after which a folder that did not become a layer belongs to a dead worker. */
const forgetMs = 2 * 60 * 60_000;

/** Layers of this machine, shared by its workers. */
export type LayerFiles = ReturnType<typeof createLayerFiles>;

/** Keeps layers below a directory, within `maxBytes`. */
export function createLayerFiles({ directory, maxBytes }: { directory: string; maxBytes: number }) {
  const made = join(directory, 'layers');
  const halfMade = join(directory, 'layers-made');
  const folderOf = ({ projectId, key }: LayerRef) => join(made, `${projectId}.${key}`);

  async function read(folder: string): Promise<StoredLayer | null> {
    const text = await readFile(join(folder, descriptionName), 'utf8').catch(() => null);
    const layer = text === null ? undefined : layerSchema.safeParse(JSON.parse(text)).data;
    return layer === undefined ? null : { folder, layer };
  }

  /** Returns a complete layer, which is then the most recently used one. */
  async function find(ref: LayerRef): Promise<StoredLayer | null> {
    const folder = folderOf(ref);
    const stored = await read(folder);
    if (stored !== null) await utimes(folder, new Date(), new Date()).catch(() => undefined);
    return stored;
  }

  /** Returns the folders of layers, the least recently used first. */
  async function foldersOfLayers(): Promise<{ path: string; bytes: number; usedAtMs: number }[]> {
    const names = await readdir(made).catch(() => []);
    const folders = await Promise.all(
      names.map(async (name) => {
        const path = join(made, name);
        const archive = await stat(join(path, archiveName)).catch(() => null);
        return { path, bytes: archive?.size ?? 0, usedAtMs: (await stat(path).catch(() => null))?.mtimeMs ?? 0 };
      }),
    );
    return folders.toSorted((a, b) => a.usedAtMs - b.usedAtMs);
  }

  async function bound(): Promise<void> {
    const folders = await foldersOfLayers();
    let bytes = folders.reduce((sum, folder) => sum + folder.bytes, 0);
    for (const folder of folders) {
      if (bytes <= maxBytes || Date.now() - folder.usedAtMs < keepMs) break;
      await discard(folder.path);
      bytes -= folder.bytes;
    }
    for (const name of await readdir(halfMade).catch(() => [])) {
      const left = await stat(join(halfMade, name)).catch(() => null);
      if (left !== null && Date.now() - left.mtimeMs > forgetMs) await discard(join(halfMade, name));
    }
  }

  /**
   * Removes a folder that did not become a layer. A command that reads the archive meanwhile keeps its own view of
   * the folder.
   */
  async function discard(folder: string): Promise<void> {
    await removeTree(folder);
  }

  return {
    find,
    /** Creates a folder for an archive that is about to be made. */
    async createFolder(): Promise<string> {
      const folder = join(halfMade, randomUUID());
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return folder;
    },
    /** Makes a folder with its archive the layer, unless there is one already, and removes the least recently used ones. */
    async add(ref: LayerRef, { folder, layer }: StoredLayer): Promise<void> {
      const archive = await lstat(join(folder, archiveName));
      if (!archive.isFile()) throw new Error('The archive of a layer is not a file.');
      for (const name of await readdir(folder)) if (name !== archiveName) await rm(join(folder, name), { force: true });
      // commands of every job of the project read it, as their own users
      await chmod(folder, 0o755);
      await chmod(join(folder, archiveName), 0o644);
      await writeFile(join(folder, descriptionName), JSON.stringify(layer), { mode: 0o600 });
      await mkdir(made, { recursive: true, mode: 0o700 });
      try {
        await rename(folder, folderOf(ref));
      } catch (error) {
        if ((await find(ref)) === null) throw error;
        await discard(folder);
      }
      await bound();
    },
    discard,
  };
}
