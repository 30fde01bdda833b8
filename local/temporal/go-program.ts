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

/** A program of a Go module that is pinned by its go.mod and go.sum. */
export interface GoProgram {
  moduleDirectory: string;
  /** The package that is the program. */
  source: string;
  /** Name of its file, and of its folder in the cache. */
  name: string;
  /** Names it in the log. */
  title: string;
  /** How long the build usually takes. */
  duration: string;
  tags?: readonly string[];
  /** Sets the variable of the main package that holds the program's own version. */
  version?: string;
  /** Whether its packages hold C. */
  usesC?: boolean;
  /** Folders of a module's source that the program reads while it runs; they are put beside it, in `assets`. */
  assets?: { module: string; folders: readonly string[] };
}

/** The program if it was built before. */
export async function findGoProgram(program: GoProgram, env: NodeJS.ProcessEnv): Promise<string | null> {
  return findKeptProgram(await cachedProgramOf(program), env);
}

/** The program built by Go and kept in the cache. Throws StartError when that is not possible here. */
export async function buildGoProgram(program: GoProgram, context: BuildContext): Promise<string> {
  return keepProgram(await cachedProgramOf(program), context, waysToBuild(program, context));
}

/** Named after the sums of its modules: another version of one is another program. */
export async function cachedProgramOf({ moduleDirectory, name, title }: GoProgram): Promise<CachedProgram> {
  const sums = await readFile(join(moduleDirectory, 'go.sum'));
  return { name, title, version: createHash('sha256').update(sums).digest('hex').slice(0, 16) };
}

/** With the Go of this machine, else with one that is downloaded for this build alone. */
export function waysToBuild(program: GoProgram, context: BuildContext): MakeProgram[] {
  return [
    async (work) => {
      const go = await findGo(context.env);
      await build({ program, go, work, ...context });
    },
    async (work) => {
      // with its modules and what it compiled: a machine without Go keeps the program alone
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
  // the toolchain may want to write beside go.mod, and the checkout may be read-only
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

/** Answers what it printed. */
async function runGo({ go, args, work, env, signal }: GoRun): Promise<string> {
  signal?.throwIfAborted();
  // a group of its own: Go runs a compiler for each core
  const child = spawn(go, args, {
    cwd: work,
    detached: true,
    env: {
      ...env,
      // without it nobody but Go itself may remove the modules
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
