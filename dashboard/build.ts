import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';
import { buildWidget } from './widget/build-widget.ts';

/**
 * Runs `npm run build`: creates `dashboard/dist` with a compressed copy of each file. Does nothing when no source has
 * changed.
 */

// the image builds the dashboard without the other folders, and so without their parser of arguments
const [argument] = process.argv.slice(2);
if (argument !== undefined) {
  const isHelp = argument === '--help' || argument === '-h';
  if (isHelp)
    console.log('Usage: npm run build\n\nBuilds the dashboard unless it is up to date. There are no options.');
  else console.error(`There is no option ${argument}: npm run build takes none.`);
  process.exit(isHelp ? 0 : 2);
}

const folder = import.meta.dirname;
const dist = join(folder, 'dist');
// another start may be building at the same time
const drafts = join(folder, 'dist.new');
const draft = join(drafts, String(process.pid));
const stamp = join(dist, '.built-from');
const compressible = /\.(?:js|css|html|svg)$/;

async function filesOf(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
}

/** Returns a hash of the sources and the versions of the bundled packages. */
async function fingerprint(): Promise<string> {
  const apart = [dist, join(folder, 'react/')];
  const sources = (await filesOf(folder)).filter((file) => !apart.some((other) => file.startsWith(other)));
  const hash = createHash('sha256');
  for (const file of [...sources, resolve(folder, '../package-lock.json')]) {
    hash.update(`${file.slice(folder.length)}\0`).update(await readFile(file));
  }
  return hash.digest('hex');
}

async function compress(file: string): Promise<void> {
  const bytes = await readFile(file);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
  await Promise.all([
    promisify(gzip)(bytes, { level: 9 }).then((packed) => writeFile(`${file}.gz`, packed)),
    promisify(brotliCompress)(bytes, quality).then((packed) => writeFile(`${file}.br`, packed)),
  ]);
}

/** Replaces the build as a whole, because the API may be reading it. */
async function replaceDist(): Promise<void> {
  const old = `${draft}.old`;
  await rename(dist, old).catch(() => undefined);
  // if another start was faster, it has built the same files
  await rename(draft, dist).catch(() => undefined);
  for (const name of await readdir(drafts)) {
    const pid = Number.parseInt(name, 10);
    if (pid === process.pid || !isRunning(pid)) await rm(join(drafts, name), { recursive: true, force: true });
  }
}

/** Reports whether the process of another draft, of any user, still writes it; a killed one has left its draft. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

const wanted = await fingerprint();
const built = await readFile(stamp, 'utf8').catch(() => null);
if (built === wanted) console.log('The dashboard is up to date.');
else {
  await mkdir(draft, { recursive: true });
  const startedAt = Date.now();
  // a value set by a test or a shell would change the build of the same sources
  process.env['NODE_ENV'] = 'production';
  await build({ configFile: join(folder, 'vite.config.ts'), build: { outDir: draft }, logLevel: 'warn' });
  await buildWidget(draft);
  for (const file of await filesOf(draft)) if (compressible.test(file)) await compress(file);
  await writeFile(join(draft, '.built-from'), wanted);
  await replaceDist();
  console.log(`The dashboard is built (${((Date.now() - startedAt) / 1000).toFixed(1)} s).`);
}
