import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { copyFile, cp, mkdir, readFile, rm, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { mayDownload, type DownloadContext } from './download.ts';
import { fetchGoToolchain } from './go-toolchain.ts';
import { findKeptProgram, keepProgram, type CachedProgram, type MakeProgram } from './program-cache.ts';
import { sendSignal } from '../processes/process-identity.ts';
import { messageOf, StartError } from '../start-error.ts';
import { showProgress } from './terminal.ts';

export type BuildContext = DownloadContext;

/** Program of a Go module that is pinned by its go.mod and go.sum. */
export interface GoProgram {
  moduleDirectory: string;
  /** Package of the program. */
  source: string;
  /** Name of its file and of its folder in the cache. */
  name: string;
  /** Name in the log. */
  title: string;
  /** Typical duration of the build. */
  duration: string;
  tags?: readonly string[];
  /** Sets the variable of the main package that holds the program's version. */
  version?: string;
  /** True if its packages contain C code. */
  usesC?: boolean;
  /** Folders of a module's source that the program reads at run time. They are copied next to it, into `assets`. */
  assets?: { module: string; folders: readonly string[] };
}

/** Returns the path of the program if it was built before, otherwise null. */
export async function findGoProgram(program: GoProgram, env: NodeJS.ProcessEnv): Promise<string | null> {
  return findKeptProgram(await cachedProgramOf(program), env);
}

/**
 * Returns the path of the program, building it with Go if it is not cached. Throws StartError when that is not possible
 * here.
 */
export async function buildGoProgram(program: GoProgram, context: BuildContext): Promise<string> {
  return keepProgram(await cachedProgramOf(program), context, waysToBuild(program, context));
}

/** Describes the cached program. Its version is derived from go.sum, so a changed module yields a new program. */
export async function cachedProgramOf({ moduleDirectory, name, title }: GoProgram): Promise<CachedProgram> {
  const sums = await readFile(join(moduleDirectory, 'go.sum'));
  return { name, title, version: createHash('sha256').update(sums).digest('hex').slice(0, 16) };
}

/**
 * Returns the ways to build the program: with the Go of this machine, or with one that is downloaded for this build
 * only.
 */
export function waysToBuild(program: GoProgram, context: BuildContext): MakeProgram[] {
  return [
    async (work) => {
      const go = await findGo(context.env);
      await build({ program, go, work, ...context });
    },
    async (work) => {
      // this folder also holds the modules and the compiler's output, so a machine without Go retains only the program
      const folder = join(work, 'toolchain');
      await mkdir(folder);
      const go = await fetchGoToolchain(folder, context).catch((error: unknown) => {
        context.signal?.throwIfAborted();
        throw new StartError(`Go was not downloaded: ${messageOf(error)}`, { cause: error });
      });
      const own = {
        GOROOT: join(folder, 'go'),
        GOTOOLCHAIN: 'local',
        GOPATH: join(folder, 'path'),
        GOMODCACHE: join(folder, 'modules'),
        GOCACHE: join(folder, 'compiled'),
      };
      await build({ program, go, work, ...context, env: { ...context.env, ...own } });
      await rm(folder, { recursive: true });
    },
  ];
}

async function build({
  program,
  go,
  work,
  ...context
}: BuildContext & { program: GoProgram; go: string; work: string }): Promise<void> {
  const { moduleDirectory, source, name, title, duration, tags = [], version, usesC = false, assets } = program;
  const { env, log, signal } = context;
  const startedAt = Date.now();
  const elapsed = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  log(`Building ${title} with Go (once; usually ${duration})`);
  using _progress = showProgress(context, () => ({
    text: `building ${title} for ${elapsed()}`,
    fraction: null,
  }));
  // the toolchain may write next to go.mod, and the checkout may be read-only
  const module = join(work, 'module');
  await mkdir(module);
  for (const file of ['go.mod', 'go.sum']) await copyFile(join(moduleDirectory, file), join(module, file));
  const run = { go, work: module, env: { ...env, CGO_ENABLED: usesC ? '1' : '0' }, signal };
  const flags = `-ldflags=-s -w${version === undefined ? '' : ` -X main.Version=${version}`}`;
  await runGo({ ...run, args: ['build', `-tags=${tags.join(',')}`, flags, '-o', join(work, name), source] });
  if (assets !== undefined) {
    const directory = await runGo({ ...run, args: ['list', '-m', '-f', '{{.Dir}}', assets.module] });
    for (const folder of assets.folders)
      await cp(join(directory.trim(), folder), join(work, 'assets', folder), { recursive: true });
  }
  await rm(module, { recursive: true });
  log(`Built ${title} in ${elapsed()}`);
}

interface GoRun extends Pick<BuildContext, 'env' | 'signal'> {
  go: string;
  args: string[];
  work: string;
}

/** Runs Go and returns its output. */
async function runGo({ go, args, work, env, signal }: GoRun): Promise<string> {
  signal?.throwIfAborted();
  // runs in its own process group, because Go starts a compiler for each core
  const child = spawn(go, args, {
    cwd: work,
    detached: true,
    env: {
      ...env,
      // without it only Go itself can remove the modules
      GOFLAGS: '-mod=readonly -modcacherw',
      GOWORK: 'off',
      GO111MODULE: 'on',
      ...(mayDownload(env) ? {} : { GOPROXY: 'off' }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const end = () => void (child.pid === undefined || sendSignal(-child.pid, 'SIGKILL'));
  signal?.addEventListener('abort', end, { once: true });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-2_000)));
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-2_000)));
  const ending = await new Promise<string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(code === 0 ? null : (signal ?? `exit code ${code}`)));
  });
  signal?.removeEventListener('abort', end);
  if (ending === null) return output;
  signal?.throwIfAborted();
  const last = words.trim().split('\n').slice(-2).join(' ').trim();
  throw new StartError(`The build with Go ended with ${ending}${last === '' ? '' : `: ${last}`}`);
}

async function findGo(env: NodeJS.ProcessEnv): Promise<string> {
  for (const folder of (env['PATH'] ?? '').split(delimiter).filter((entry) => entry !== '')) {
    if (await isThere(join(folder, 'go'))) return join(folder, 'go');
  }
  throw new StartError('Go is not on the PATH');
}

async function isThere(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found?.isFile() ?? false;
}
