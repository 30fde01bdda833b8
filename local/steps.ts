const reminderMs = 10_000;

export type Steps = ReturnType<typeof createSteps>;

/** Prints the steps of a start with their elapsed time, and a reminder while a step is slow. */
export function createSteps(log: (line: string) => void) {
  return {
    /** Runs one step of the start, then prints its name and duration. */
    async run<T>(name: string, work: () => Promise<T>): Promise<T> {
      const startedAt = performance.now();
      const elapsed = () => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
      const reminder = setInterval(() => log(`  ${name}: not yet, after ${elapsed()}`), reminderMs);
      try {
        const result = await work();
        log(`  ${name}: ${elapsed()}`);
        return result;
      } finally {
        clearInterval(reminder);
      }
    },
  };
}
