import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { execFileSync } from 'node:child_process';
import { apiOptions } from '../../../../local/processes/services.ts';

const checkout = join(import.meta.dirname, '../../../..');
const startTimeoutMs = 60_000;

/** The measured process runs on one core, the load generator on the other. */
export const serverCore = 0;
export const loadCore = 1;

export interface StartOptions {
  core: number;
  env?: NodeJS.ProcessEnv;
  /** For Node, e.g. `--cpu-prof`. */
  flags?: string[];
}

export interface BenchProcess extends AsyncDisposable {
  pid: number;
  /** Calls a handler of the process. */
  ask<Result>(name: string, input?: unknown): Promise<Result>;
}

export interface ServiceProcess extends AsyncDisposable {
  pid: number;
  /** The log line that said it was ready. */
  ready: Record<string, unknown>;
}

/** Whether processes can be pinned to cores here. */
export const canPin = availableParallelism() > 1 && hasTaskset();

/** Pins a running process, and what it will start, to a core. */
export function pin(pid: number, core: number): void {
  if (canPin) execFileSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' });
}

/** Starts a program of `processes/` that answers through `answerParent`. */
export async function startBenchProcess(name: string, options: StartOptions): Promise<BenchProcess> {
  const child = start(join(import.meta.dirname, '../processes', `${name}.ts`), options, [
    'ignore',
    'inherit',
    'inherit',
    'ipc',
  ]);
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  void ended.then(() => {
    for (const { reject } of waiting.values()) reject(new Error(`The process ${name} ended.`));
  });
  child.on('message', ({ id, result, error }: { id: number; result?: unknown; error?: string }) => {
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(result);
    else call?.reject(new Error(`${name}: ${error}`));
  });
  let calls = 0;
  const ask = <Result>(handler: string, input?: unknown) => {
    const call = Promise.withResolvers<unknown>();
    calls += 1;
    waiting.set(calls, call);
    child.send({ id: calls, handler, input });
    return call.promise as Promise<Result>;
  };
  await ask('ready');
  return {
    pid: child.pid!,
    ask,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Starts a program of the product and waits for the log line that says `readyMessage`. */
export async function startService(path: string, readyMessage: string, options: StartOptions): Promise<ServiceProcess> {
  const flags = [...(path === 'api/main.ts' ? apiOptions : []), ...(options.flags ?? [])];
  const child = start(join(checkout, path), { ...options, flags }, ['ignore', 'pipe', 'inherit']);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const timer = setTimeout(() => child.kill('SIGKILL'), startTimeoutMs);
  const ready = Promise.withResolvers<Record<string, unknown>>();
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const entry = JSON.parse(line) as Record<string, unknown>;
    if (entry['msg'] === readyMessage) ready.resolve(entry);
    else if (Number(entry['level']) >= 40) console.error(`  ${line}`);
  });
  void ended.then(() => ready.reject(new Error(`${path} ended before it was ready.`)));
  const entry = await ready.promise;
  clearTimeout(timer);
  return {
    pid: child.pid!,
    ready: entry,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function start(
  script: string,
  { core, env, flags = [] }: StartOptions,
  stdio: ('ignore' | 'inherit' | 'ipc' | 'pipe')[],
) {
  const command = [process.execPath, ...flags, script];
  const [file = '', ...args] = canPin ? ['taskset', '-c', String(core), ...command] : command;
  return spawn(file, args, { cwd: checkout, env: { ...process.env, ...env }, stdio });
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
