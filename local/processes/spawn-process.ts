import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { createInterface } from 'node:readline';
import { sendSignal } from './process-identity.ts';

export interface Account {
  uid: number;
  gid: number;
}

export interface ProcessCommand {
  command: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  cwd?: string;
  /** Account to run under, which only root may set. */
  account?: Account;
}

export interface RunningProcess {
  readonly pid: number;
  /** Resolves when the process and its output have ended. Never rejects. */
  readonly ended: Promise<string>;
  /** Returns the most recent lines of its output. */
  lastLines(): string[];
  /** Sends `signal`, then SIGKILL to the whole group after the deadline. Resolves when the process has ended. */
  end(options: { signal: NodeJS.Signals; timeoutMs: number }): Promise<void>;
}

const keptLines = 12;
const maxLineLength = 4_000;

/** Starts a process as the leader of its own group, so that Ctrl-C in the terminal reaches only its supervisor. */
export async function spawnProcess(spec: ProcessCommand, onLine: (line: string) => void): Promise<RunningProcess> {
  const child = spawn(spec.command, spec.args, {
    cwd: spec.cwd,
    env: spec.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...spec.account,
  });
  const newest: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    eachLine(stream, (line) => {
      newest.push(line);
      if (newest.length > keptLines) newest.shift();
      onLine(line);
    });
  }
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${spec.command} does not start: ${await ended}`);

  return {
    pid,
    ended,
    lastLines: () => [...newest],
    async end({ signal, timeoutMs }) {
      let hasEnded = false;
      void ended.then(() => (hasEnded = true));
      sendSignal(pid, signal);
      const killTimer = setTimeout(() => {
        if (!hasEnded && !sendSignal(-pid, 'SIGKILL')) sendSignal(pid, 'SIGKILL');
      }, timeoutMs);
      await ended;
      clearTimeout(killTimer);
    },
  };
}

function eachLine(stream: Readable, onLine: (line: string) => void): void {
  createInterface({ input: stream, crlfDelay: Infinity }).on('line', (line) => onLine(line.slice(0, maxLineLength)));
}
