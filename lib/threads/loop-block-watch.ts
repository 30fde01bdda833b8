import type { Logger } from 'pino';
import { Histogram, type Registry } from 'prom-client';
import { createInFlight } from '../in-flight.ts';
import { watchEventLoop } from './watch-event-loop.ts';

export interface LoopBlockWatch<Task> {
  /** Registers a task as in flight; returns the function that ends it. */
  start(task: Task): () => void;
  /**
   * Watches the event loop from the first call until the signal: a process that is starting or stopping keeps no one
   * waiting.
   */
  watch(until: AbortSignal): void;
}

/** Maximum time that a task may block the event loop, because all others wait meanwhile. */
const blockedMs = 50;
/** From here on people may notice, so it is a warning. Shorter blocks are common when code runs for the first time. */
const noticedMs = 1_000;
const maxNamed = 5;

/** Logs and counts what blocked the event loop of this process, with the tasks that may have caused it. */
export function createLoopBlockWatch<Task>({
  log,
  registers,
  prefix,
  nameOf,
}: {
  log: Pick<Logger, 'info' | 'warn'>;
  registers: Registry[];
  /** Prefix of the metric's name, such as `docket_api`. */
  prefix: string;
  nameOf: (task: Task) => string;
}): LoopBlockWatch<Task> {
  const blocks = new Histogram({
    name: `${prefix}_event_loop_hold_seconds`,
    help: 'CPU time of tasks that blocked the event loop for more than 50 ms.',
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
    registers,
  });
  const inFlight = createInFlight<{ task: Task; tick: number }>();
  // since the last tick
  const ended = new Set<string>();
  let tick = 0;
  let watching: Disposable | null = null;

  /** Names what started or ended since the last tick; streams are always in flight. */
  function moved(): string[] {
    const tasks = inFlight.list();
    const started = tasks.filter((task) => task.tick === tick);
    return [...ended, ...(ended.size + started.length > 0 ? started : tasks).map(({ task }) => nameOf(task))];
  }

  return {
    start(task) {
      const remove = inFlight.add({ task, tick });
      return () => {
        remove();
        ended.add(nameOf(task));
      };
    },
    watch(until) {
      if (until.aborted || watching !== null) return;
      watching = watchEventLoop({
        blockedMs,
        onBlocked({ cpuMs }) {
          blocks.observe(cpuMs / 1_000);
          const during = [...new Set(moved())].slice(0, maxNamed);
          const level = cpuMs < noticedMs ? 'info' : 'warn';
          log[level]({ during, cpuMs: Math.round(cpuMs) }, 'the event loop was blocked');
        },
        onTick() {
          tick += 1;
          ended.clear();
        },
      });
      until.addEventListener('abort', () => watching?.[Symbol.dispose](), { once: true });
    },
  };
}
