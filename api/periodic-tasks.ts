import type { Logger } from 'pino';

export interface PeriodicTask {
  name: string;
  everyMs: number;
  run: () => Promise<void>;
  isRunAtEnd?: boolean;
}

/** Runs small chores from time to time; one that fails is logged and tried again at its next turn. */
export function createPeriodicTasks({ tasks, log }: { tasks: PeriodicTask[]; log: Logger }): AsyncDisposable {
  async function run({ name, run: work }: PeriodicTask): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.warn({ err: error, task: name }, 'periodic task failed');
    }
  }

  const timers = tasks.map((task) => setInterval(() => void run(task), task.everyMs).unref());
  return {
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearInterval(timer);
      for (const task of tasks.filter(({ isRunAtEnd }) => isRunAtEnd === true)) await run(task);
    },
  };
}
