import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';

export interface ProcessCall {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  stdin: string | Uint8Array | null;
  /** What the process may read from descriptor 3. */
  secretInput: string | null;
  /** The size that no file it writes may pass; null: any. */
  maxFileBytes: number | null;
  /** The address space that it and each of its children may have; null: any. */
  maxMemoryBytes: number | null;
  maxOutputBytes: number;
  timeoutMs: number;
  signal: AbortSignal;
}

export interface ProcessOutcome {
  stdout: Buffer;
  stderr: string;
  /** -1 when a signal ended the process. */
  exitCode: number;
  /** Why it was stopped before its own end; null when it was not. */
  stopped: 'aborted' | 'timeout' | 'overflow' | null;
}

/** How long a stopped process may take to remove its lock files. */
const stopGraceMs = 800;
const stderrBytes = 16 * 1024;

/** A call whose input may come bit by bit. */
export type StreamedCall = Omit<ProcessCall, 'stdin'> & { stdin: ProcessCall['stdin'] | Readable };

/** Runs a process in a group of its own and ends the whole group when it is stopped. Throws when it cannot be started. */
export async function runProcess(
  call: StreamedCall,
  onStart: (pid: number) => void = () => {},
): Promise<ProcessOutcome> {
  const [file, args] = commandOf(call);
  const child = spawn(file, args, {
    cwd: call.cwd,
    env: call.env,
    stdio: [call.stdin === null ? 'ignore' : 'pipe', 'pipe', 'pipe', call.secretInput === null ? 'ignore' : 'pipe'],
    detached: true,
  });
  if (child.pid !== undefined) onStart(child.pid);
  let stopped: ProcessOutcome['stopped'] = null;
  let killTimer: NodeJS.Timeout | undefined;
  const stop = (reason: 'aborted' | 'timeout' | 'overflow') => {
    if (stopped !== null) return;
    stopped = reason;
    signalGroup(child.pid, 'SIGTERM');
    killTimer = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), stopGraceMs);
  };
  const onAbort = () => stop('aborted');
  const timer = setTimeout(() => stop('timeout'), call.timeoutMs);
  call.signal.addEventListener('abort', onAbort, { once: true });
  if (call.signal.aborted) onAbort();
  try {
    const stdout = collect(child.stdout, call.maxOutputBytes, () => stop('overflow'));
    const stderr = collect(child.stderr, stderrBytes, () => {});
    feed(child.stdin, call.stdin);
    feed(child.stdio[3], call.secretInput);
    const [code] = await once(child, 'close');
    return {
      stdout: Buffer.concat(stdout),
      stderr: Buffer.concat(stderr).toString(),
      exitCode: typeof code === 'number' ? code : -1,
      stopped,
    };
  } finally {
    clearTimeout(timer);
    clearTimeout(killTimer);
    call.signal.removeEventListener('abort', onAbort);
  }
}

/** The shell sets the limits and becomes the process; a write beyond fails instead of killing it. */
function commandOf({ file, args, maxFileBytes, maxMemoryBytes }: StreamedCall): [string, readonly string[]] {
  const limits = [
    ...(maxFileBytes === null ? [] : [`trap '' XFSZ; ulimit -f ${Math.ceil(maxFileBytes / 512)} || exit`]),
    // only Linux has it
    ...(maxMemoryBytes === null ? [] : [`ulimit -v ${Math.ceil(maxMemoryBytes / 1024)} 2> /dev/null`]),
  ];
  if (limits.length === 0) return [file, args];
  return ['/bin/sh', ['-c', [...limits, 'exec "$0" "$@"'].join('; '), file, ...args]];
}

/** Signals all processes of the group that one began; none is left where it has ended. */
export function signalGroup(pid: number | undefined, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended by itself
  }
}

/** Keeps the first `limit` bytes and calls `onOverflow` at the first one beyond; the rest is read and dropped. */
function collect(stream: Readable | null, limit: number, onOverflow: () => void): Buffer[] {
  const chunks: Buffer[] = [];
  let size = 0;
  stream?.on('data', (chunk: Buffer) => {
    const kept = chunk.subarray(0, Math.max(0, limit - size));
    size += chunk.length;
    if (kept.length > 0) chunks.push(kept);
    if (size > limit) onOverflow();
  });
  return chunks;
}

/** A process that ends without reading its input is no error: its exit code tells. */
function feed(stream: unknown, input: StreamedCall['stdin']): void {
  if (input === null || !(stream instanceof Writable)) return;
  stream.on('error', () => {});
  if (input instanceof Readable) input.pipe(stream);
  else stream.end(input);
}
