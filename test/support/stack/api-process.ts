import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { testPepper } from '../database/build.ts';

export interface ApiProcess extends AsyncDisposable {
  child: ChildProcess;
  lines: string[];
  /** Resolves with the first log line that has the message. */
  logged(message: string): Promise<Record<string, unknown>>;
  ended: Promise<number | null>;
}

/** Starts the API process on a free port; its log lines can be awaited. */
export function startApi(env: Record<string, string>): ApiProcess {
  const child = spawn(process.execPath, ['api/main.ts'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: '0', DOCKET_KEY_PEPPER: testPepper, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const reader = createInterface({ input: child.stdout! });
  reader.on('line', (line) => {
    lines.push(line);
    for (const look of waiting) look();
  });
  const ended = new Promise<number | null>((resolve) => void child.once('close', resolve));
  return {
    child,
    lines,
    ended,
    logged: (message) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === message);
          if (found !== undefined) resolve(found);
        };
        waiting.add(look);
        look();
        void ended.then(() => reject(new Error(`The process ended: ${lines.join('\n')}`)));
      }),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
