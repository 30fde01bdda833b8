import { readdir, readFile, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { staticFileOf, type StaticFile } from './static-file.ts';

export type DashboardFiles = ReturnType<typeof createDashboardFiles>;

/**
 * Holds the built dashboard in memory and reloads it after a new build. Only names found in the directory are served,
 * so no path leads out of it.
 */
export function createDashboardFiles({ directory }: { directory: string }) {
  let loaded: { builtAt: number; files: Promise<Map<string, StaticFile>> } | null = null;

  async function current(): Promise<Map<string, StaticFile>> {
    const builtAt = await stat(join(directory, 'index.html')).then(
      ({ mtimeMs }) => mtimeMs,
      () => null,
    );
    if (builtAt === null) return new Map();
    if (loaded?.builtAt !== builtAt) loaded = { builtAt, files: load(directory) };
    try {
      return await loaded.files;
    } catch {
      // a build is in progress; retry on the next request
      loaded = null;
      return new Map();
    }
  }

  return {
    /** Returns the file at a path below `/`; null when it does not exist or no dashboard has been built. */
    find: async (path: string): Promise<StaticFile | null> => (await current()).get(path) ?? null,
    /** Returns the app's HTML page; null when no dashboard has been built. */
    index: async (): Promise<StaticFile | null> => (await current()).get('index.html') ?? null,
  };
}

async function load(directory: string): Promise<Map<string, StaticFile>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
  const bytes = new Map<string, Buffer>();
  for (const name of names) bytes.set(name.split(sep).join('/'), await readFile(join(directory, name)));
  const files = new Map<string, StaticFile>();
  for (const [name, plain] of bytes) {
    const [brotli, gzip] = [bytes.get(`${name}.br`) ?? null, bytes.get(`${name}.gz`) ?? null];
    const file = staticFileOf(name, { plain, brotli, gzip });
    if (file !== null) files.set(name, file);
  }
  return files;
}
