import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';

export interface DashboardFile {
  type: string;
  etag: string;
  /** Whether the file name changes with its content. */
  isImmutable: boolean;
  plain: Buffer;
  brotli: Buffer | null;
  gzip: Buffer | null;
}

export interface DashboardFiles {
  /** Returns the file at a path below `/`; null when it does not exist or no dashboard has been built. */
  find(path: string): Promise<DashboardFile | null>;
  /** Returns the app's HTML page; null when no dashboard has been built. */
  index(): Promise<DashboardFile | null>;
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.txt': 'text/plain; charset=utf-8',
};

/**
 * Holds the built dashboard in memory and reloads it after a new build. Only names found in the directory are served,
 * so no path leads out of it.
 */
export function createDashboardFiles({ directory }: { directory: string }): DashboardFiles {
  let loaded: { builtAt: number; files: Promise<Map<string, DashboardFile>> } | null = null;

  async function current(): Promise<Map<string, DashboardFile>> {
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
    find: async (path) => (await current()).get(path) ?? null,
    index: async () => (await current()).get('index.html') ?? null,
  };
}

async function load(directory: string): Promise<Map<string, DashboardFile>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
  const bytes = new Map<string, Buffer>();
  for (const name of names) bytes.set(name.split(sep).join('/'), await readFile(join(directory, name)));
  const files = new Map<string, DashboardFile>();
  for (const [name, plain] of bytes) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    files.set(name, {
      type,
      etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
      isImmutable: /^assets\/.+-[\w-]{8,}\.\w+$/.test(name),
      plain,
      brotli: bytes.get(`${name}.br`) ?? null,
      gzip: bytes.get(`${name}.gz`) ?? null,
    });
  }
  return files;
}
