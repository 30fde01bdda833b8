import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { temporaryDirectory } from '../temporary-directory.ts';

const main = join(import.meta.dirname, '../../../worker/main.ts');

export interface WorkerProcess extends AsyncDisposable {
  child: ChildProcess;
  /** Resolves with the exit code. */
  closed: Promise<number | null>;
  output(): string;
  /** Resolves when the text was printed this many times; rejects when the process ends before that. */
  said(text: string, times?: number): Promise<void>;
}

/** Starts the worker process, or another program; its output can be awaited. */
export async function startWorkerProcess(env: NodeJS.ProcessEnv, entry = main): Promise<WorkerProcess> {
  const directory = temporaryDirectory();
  const child = spawn(process.execPath, [entry], {
    env: { PATH: process.env['PATH'], DOCKET_WORK_DIR: directory, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close').then(([code]) => code as number | null);
  let output = '';
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const look of waiting) look();
    });
  }
  return {
    child,
    closed,
    output: () => output,
    async said(text, times = 1) {
      const seen = new Promise<void>((resolve) => {
        const look = () => {
          if (output.split(text).length > times) resolve();
        };
        waiting.add(look);
        look();
      });
      const ended = closed.then((code) => Promise.reject(new Error(`The worker ended with ${code}:\n${output}`)));
      await Promise.race([seen, ended]);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}
