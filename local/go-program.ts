import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
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
}

/**
 * The program built by the Go toolchain, kept in the user's cache. Of several starts at once one builds and the others wait
 * for it. Rejects with a sentence when there is no Go or the build fails.
 */
export async function buildGoProgram(program: GoProgram, { env, log, signal }: BuildContext): Promise<string> {
  const { moduleDirectory, name, title } = program;
  const sums = await readFile(join(moduleDirectory, 'go.sum'));
  const version = createHash('sha256').update(sums).digest('hex').slice(0, 16);
  const folder = join(env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache'), 'docket', name, version);
  const binary = join(folder, name);
  if (await isThere(binary)) return binary;

  const go = await findGo(env);
  await mkdir(folder, { recursive: true });
  using _lock = await waitForLock(join(folder, 'lock'), () =>
    log(`Another start is building ${title}; waiting for it`),
  );
  if (!(await isThere(binary))) await build({ program, go, target: binary, env, log, signal });
  return binary;
}

async function build({
  program,
  go,
  target,
  env,
  log,
  signal,
}: BuildContext & { program: GoProgram; go: string; target: string }): Promise<void> {
  const { moduleDirectory, source, title, duration } = program;
  // the toolchain may want to write beside go.mod, and the checkout may be read-only
  const work = await mkdtemp(join(tmpdir(), 'docket-go-'));
  const half = `${target}.new`;
  const startedAt = Date.now();
  const elapsed = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  log(`Building ${title} with Go: ${duration}, once per user`);
  const progress = setInterval(() => log(`  still building after ${elapsed()}`), progressMs);
  try {
    for (const file of ['go.mod', 'go.sum']) await copyFile(join(moduleDirectory, file), join(work, file));
    await runGo({ go, args: ['build', '-ldflags=-s -w', '-o', half, source], work, env, signal });
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

async function runGo({ go, args, work, env, signal }: GoRun): Promise<void> {
  const child = spawn(go, args, {
    cwd: work,
    env: { ...env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOWORK: 'off', GO111MODULE: 'on' },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  });
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-2_000)));
  const ending = await new Promise<string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(code === 0 ? null : (signal ?? `exit code ${code}`)));
  });
  if (ending === null) return;
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
