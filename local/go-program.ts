import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { copyFile, cp, mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { userCache } from '../lib/private-folder.ts';
import { waitForLock } from './lock-file.ts';

const progressMs = 15_000;

export interface BuildContext {
  env: NodeJS.ProcessEnv;
  log(line: string): void;
  signal?: AbortSignal;
}

/** A program of a Go module that is pinned by its go.mod and go.sum. */
export interface GoProgram {
  moduleDirectory: string;
  /** The package that is the program. */
  source: string;
  /** Name of its file, and of its folder in the cache. */
  name: string;
  /** Names it in the log. */
  title: string;
  /** How long the build takes, for whoever waits. */
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
  const binary = await placeOf(program, env);
  return (await isThere(binary)) ? binary : null;
}

/**
 * The program built by the Go toolchain, kept in the user's cache. Of several starts at once one builds and the others wait
 * for it. Rejects with a sentence when there is no Go or the build fails.
 */
export async function buildGoProgram(program: GoProgram, { env, log, signal }: BuildContext): Promise<string> {
  const { title } = program;
  const binary = await placeOf(program, env);
  if (await isThere(binary)) return binary;

  const go = await findGo(env);
  const folder = dirname(binary);
  await mkdir(folder, { recursive: true });
  using _lock = await waitForLock(join(folder, 'lock'), () =>
    log(`Another start is building ${title}; waiting for it`),
  );
  if (!(await isThere(binary))) await build({ program, go, target: binary, env, log, signal });
  return binary;
}

async function placeOf({ moduleDirectory, name }: GoProgram, env: NodeJS.ProcessEnv): Promise<string> {
  const sums = await readFile(join(moduleDirectory, 'go.sum'));
  const version = createHash('sha256').update(sums).digest('hex').slice(0, 16);
  return join(userCache(env), name, version, name);
}

async function build({
  program,
  go,
  target,
  env,
  log,
  signal,
}: BuildContext & { program: GoProgram; go: string; target: string }): Promise<void> {
  const { moduleDirectory, source, title, duration, tags = [], version, usesC = false, assets } = program;
  // the toolchain may want to write beside go.mod, and the checkout may be read-only
  const work = await mkdtemp(join(tmpdir(), 'docket-go-'));
  const half = `${target}.new`;
  const startedAt = Date.now();
  const elapsed = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  log(`Building ${title} with Go: ${duration}, once per user`);
  const progress = setInterval(() => log(`  still building after ${elapsed()}`), progressMs);
  try {
    for (const file of ['go.mod', 'go.sum']) await copyFile(join(moduleDirectory, file), join(work, file));
    const run = { go, work, env: { ...env, CGO_ENABLED: usesC ? '1' : '0' }, signal };
    const flags = `-ldflags=-s -w${version === undefined ? '' : ` -X main.Version=${version}`}`;
    await runGo({ ...run, args: ['build', `-tags=${tags.join(',')}`, flags, '-o', half, source] });
    if (assets !== undefined) {
      const directory = await runGo({ ...run, args: ['list', '-m', '-f', '{{.Dir}}', assets.module] });
      const place = join(dirname(target), 'assets');
      for (const folder of assets.folders)
        await cp(join(directory.trim(), folder), join(place, folder), { recursive: true });
    }
    // last: a program that is there is complete
    await rename(half, target);
    log(`Built ${title} in ${elapsed()}`);
  } finally {
    clearInterval(progress);
    await rm(work, { recursive: true, force: true });
    await rm(half, { force: true });
  }
}

interface GoRun extends Pick<BuildContext, 'env' | 'signal'> {
  go: string;
  args: string[];
  work: string;
}

/** Answers what it printed. */
async function runGo({ go, args, work, env, signal }: GoRun): Promise<string> {
  const child = spawn(go, args, {
    cwd: work,
    env: { ...env, GOFLAGS: '-mod=readonly', GOWORK: 'off', GO111MODULE: 'on' },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-2_000)));
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-2_000)));
  const ending = await new Promise<string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(code === 0 ? null : (signal ?? `exit code ${code}`)));
  });
  if (ending === null) return output;
  const last = words.trim().split('\n').slice(-2).join(' ').trim();
  throw new Error(`the build with Go ended with ${ending}${last === '' ? '' : `: ${last}`}`);
}

async function findGo(env: NodeJS.ProcessEnv): Promise<string> {
  const folders = [
    ...(env['PATH'] ?? '').split(delimiter),
    '/usr/local/go/bin',
    '/usr/lib/go/bin',
    '/opt/homebrew/bin',
  ];
  for (const folder of folders.filter((entry) => entry !== '')) {
    if (await isThere(join(folder, 'go'))) return join(folder, 'go');
  }
  throw new Error('there is no Go toolchain');
}

async function isThere(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found?.isFile() ?? false;
}
