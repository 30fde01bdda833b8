/** Lets a test wait for words of a reply; rejects when they never arrive. */
export interface Progress {
  changed(): void;
  /** Runs one request to its end. */
  during(request: () => Promise<unknown>): Promise<void>;
  until(words: string): Promise<void>;
}

export function createProgress(text: () => string): Progress {
  const checks = new Set<(isOver: boolean) => void>();
  const run = (isOver: boolean) => {
    for (const check of checks) check(isOver);
  };

  return {
    changed: () => run(false),
    async during(request) {
      try {
        await request();
      } finally {
        run(true);
      }
    },
    until(words) {
      return new Promise((resolve, reject) => {
        const check = (isOver: boolean) => {
          if (!text().includes(words) && !isOver) return;
          checks.delete(check);
          if (text().includes(words)) resolve();
          else reject(new Error(`The reply ended without "${words}": "${text()}"`));
        };
        checks.add(check);
        check(false);
      });
    },
  };
}

/** Returns the text that an application would show for an error of the SDK. */
export function errorTextOf(error: unknown): string | null {
  if (error === undefined || error === null) return null;
  if (typeof error !== 'object') return String(error);
  const { responseBody, message } = error as { responseBody?: unknown; message?: unknown };
  if (typeof responseBody === 'string') return responseBody;
  return typeof message === 'string' ? message : String(error);
}
