/** Runs some tasks at once; the others wait in line. */
export function createTurns(atOnce: number) {
  const line: (() => void)[] = [];
  let running = 0;
  return {
    /** Number of tasks in line. */
    get waiting() {
      return line.length;
    },
    async run<Result>(task: () => Promise<Result>): Promise<Result> {
      if (running < atOnce) running += 1;
      // a task that ends passes its place to the next one
      else await new Promise<void>((resolve) => line.push(resolve));
      try {
        return await task();
      } finally {
        const begin = line.shift();
        if (begin === undefined) running -= 1;
        else begin();
      }
    },
  };
}
