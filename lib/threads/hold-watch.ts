import type { Logger } from 'pino';
import { Histogram, type Registry } from 'prom-client';
import { watchEventLoop } from './watch-event-loop.ts';

export interface HoldWatch<Task> {
  /** Says that a task is under way; answers what says that it has ended. */
  begin(task: Task): () => void;
  /** Looks at the event loop from the first call on until the signal: a process that starts or stops keeps nobody waiting. */
  watch(until: AbortSignal): void;
}

/** No task may use the processor for longer in one go: all others wait meanwhile. */
const heldMs = 50;
/** Somebody may have noticed: a warning. Less is for the metric and the log file, as code that runs for the first time takes so long. */
const noticedMs = 1_000;
const mostNamed = 5;

/** Logs and counts what held the event loop of this process, with the tasks that could have been it. */
export function createHoldWatch<Task>({
  log,
  registers,
  prefix,
  nameOf,
}: {
  log: Pick<Logger, 'info' | 'warn'>;
  registers: Registry[];
  /** Of the metric's name, such as `docket_api`. */
  prefix: string;
  nameOf: (task: Task) => string;
}): HoldWatch<Task> {
  const holds = new Histogram({
    name: `${prefix}_event_loop_hold_seconds`,
    help: 'CPU time of tasks that blocked the event loop for more than 50 ms.',
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
    registers,
  });
  const underWay = new Set<Task>();
  // begun or ended since the last look; streams are under way all the time
  const moved = new Set<Task>();
  let watching: Disposable | null = null;

  return {
    begin(task) {
      underWay.add(task);
      moved.add(task);
      return () => {
        underWay.delete(task);
        moved.add(task);
      };
    },
    watch(until) {
      if (until.aborted || watching !== null) return;
      watching = watchEventLoop({
        heldMs,
        onHeld({ cpuMs }) {
          holds.observe(cpuMs / 1_000);
          const during = [...new Set([...(moved.size > 0 ? moved : underWay)].map(nameOf))].slice(0, mostNamed);
          const level = cpuMs < noticedMs ? 'info' : 'warn';
          log[level]({ during, cpuMs: Math.round(cpuMs) }, 'the event loop was blocked');
        },
        onLook: () => moved.clear(),
      });
      until.addEventListener('abort', () => watching?.[Symbol.dispose](), { once: true });
    },
  };
}
