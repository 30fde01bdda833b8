import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, StartError } from '../start-error.ts';
import { spawnProcess } from './spawn-process.ts';
import type { ProcessCommand, RunningProcess } from './spawn-process.ts';

export interface ReadyCheck {
  /** Aborts when the process ends or misses its start deadline. */
  signal: AbortSignal;
  /** Resolves at the first line of output that satisfies the condition. */
  untilLine(isWanted: (line: string) => boolean): Promise<void>;
}

export interface ProcessSpec extends ProcessCommand {
  /** Name in the log. */
  name: string;
  stopSignal: NodeJS.Signals;
  stopTimeoutMs: number;
  startTimeoutMs: number;
  /** Resolves when the process is ready to serve. Called for each start. */
  untilReady(check: ReadyCheck): Promise<void>;
  /** Cleans up after an earlier run. */
  beforeStart?(): Promise<void>;
}

export interface SupervisorHooks {
  log(line: string): void;
  /** Called for each line of the process's output. */
  onLine?(line: string): void;
  /** Called with each new process id, before the process is ready, and with null when it has ended. */
  onPid?(pid: number | null): Promise<void> | void;
  /** Delay before the first restart. It doubles up to `maxBackOffMs`. */
  backOffMs?: number;
  maxBackOffMs?: number;
  /** Uptime after which a process that exits is restarted at once. */
  steadyMs?: number;
  /** Cancels the first start when it aborts. After that, dispose of the process to end it. */
  signal?: AbortSignal;
  /** Number of attempts before the first start counts as failed. */
  attempts?: number;
}

export type SupervisedProcess = Awaited<ReturnType<typeof superviseProcess>>;

/**
 * Starts a process, waits until it is ready, and restarts it with backoff whenever it exits, until it is disposed of.
 * Throws StartError with its last output when the first start fails.
 */
export async function superviseProcess(spec: ProcessSpec, hooks: SupervisorHooks) {
  const { log, backOffMs = 250, maxBackOffMs = 10_000, steadyMs = 5_000, attempts = 1 } = hooks;
  const stopping = new AbortController();
  let running: RunningProcess | null = null;
  let isRestartWanted = false;

  async function launch(signal: AbortSignal): Promise<RunningProcess> {
    await spec.beforeStart?.();
    const lineWaiters = new Set<(line: string) => void>();
    const started = await spawnProcess(spec, (line) => {
      hooks.onLine?.(line);
      for (const waiter of lineWaiters) waiter(line);
    });
    running = started;
    await hooks.onPid?.(started.pid);
    try {
      await untilReady(spec, started, lineWaiters, signal);
    } catch (error) {
      await started.end({ signal: spec.stopSignal, timeoutMs: Math.min(spec.stopTimeoutMs, 2_000) });
      running = null;
      await hooks.onPid?.(null);
      throw error;
    }
    return started;
  }

  async function launchFirst(): Promise<RunningProcess> {
    const starting = hooks.signal ?? stopping.signal;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await launch(starting);
      } catch (error) {
        starting.throwIfAborted();
        if (attempt >= attempts) throw error;
        await sleep(backOffMs * attempt);
      }
    }
  }

  async function keepAlive(first: RunningProcess): Promise<void> {
    let current: RunningProcess | null = first;
    let wait = backOffMs;
    while (!stopping.signal.aborted) {
      const startedAt = Date.now();
      let reason = '';
      if (current !== null) {
        reason = `ended (${await current.ended})`;
        running = null;
        await hooks.onPid?.(null);
        if (stopping.signal.aborted) return;
        if (Date.now() - startedAt > steadyMs) wait = 0;
      }
      if (isRestartWanted) {
        isRestartWanted = false;
        wait = backOffMs;
      } else {
        if (reason !== '') log(`${spec.name} ${reason}; restarting in ${wait / 1000} s`);
        await sleep(wait, undefined, { signal: stopping.signal }).catch(() => undefined);
        wait = Math.min(Math.max(wait * 2, backOffMs), maxBackOffMs);
        if (stopping.signal.aborted) return;
      }
      try {
        current = await launch(stopping.signal);
        log(`${spec.name} runs again`);
      } catch (error) {
        current = null;
        if (!stopping.signal.aborted) log(`${messageOf(error).split('\n')[0]}; retrying in ${wait / 1000} s`);
      }
    }
  }

  const watching = keepAlive(await launchFirst()).catch((error: unknown) => {
    log(`${spec.name} is no longer watched: ${messageOf(error)}`);
  });
  return {
    name: spec.name,
    get pid() {
      return running?.pid ?? null;
    },
    /** Ends the process and starts it again at once, without backoff. */
    async restart(): Promise<void> {
      if (running === null) return; // it is about to restart anyway
      isRestartWanted = true;
      await running.end({ signal: spec.stopSignal, timeoutMs: spec.stopTimeoutMs });
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running?.end({ signal: spec.stopSignal, timeoutMs: spec.stopTimeoutMs });
      await watching;
      await hooks.onPid?.(null);
    },
  };
}

async function untilReady(
  spec: ProcessSpec,
  running: RunningProcess,
  lineWaiters: Set<(line: string) => void>,
  stopping: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, stopping, AbortSignal.timeout(spec.startTimeoutMs)]);
  const untilLine = (isWanted: (line: string) => boolean) =>
    new Promise<void>((resolve) => {
      lineWaiters.add((line) => {
        if (isWanted(line)) resolve();
      });
    });
  const tooLate = new Promise<string>((resolve) => {
    const tell = () => resolve(`was not ready within ${spec.startTimeoutMs / 1000} s`);
    if (signal.aborted) tell();
    else signal.addEventListener('abort', tell, { once: true });
  });
  const failed = Promise.race([running.ended.then((reason) => `ended (${reason}) before it was ready`), tooLate]);
  const ready = spec.untilReady({ signal, untilLine }).then(
    () => null,
    async (error: unknown) => (signal.aborted ? failed : `is not ready: ${messageOf(error)}`),
  );
  try {
    const problem = await Promise.race([ready, failed]);
    if (problem !== null) throw new StartError([`${spec.name} ${problem}`, ...running.lastLines()].join('\n  '));
  } finally {
    over.abort();
    lineWaiters.clear();
  }
}
