import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { joinChunks } from './join-chunks.ts';
import { shellWord } from '../../lib/shell-word.ts';

export interface ProcessCall {
  file: string;
  args: readonly string[];
  /** Arguments of further runs of the file, one after another while they succeed. `mark` separates their outputs. */
  more?: { runs: readonly (readonly string[])[]; mark: string };
  cwd: string;
  env: Readonly<Record<string, string>>;
  stdin: string | Uint8Array | null;
  /** Input on descriptor 3. */
  secretInput: string | null;
  /** Maximum size of each file that the process writes; null for no limit. */
  maxFileBytes: number | null;
  /** Maximum address space of the process and of each of its children; null for no limit. */
  maxMemoryBytes: number | null;
  maxOutputBytes: number;
  timeoutMs: number;
  signal: AbortSignal;
}

export interface ProcessOutcome {
  stdout: Buffer;
  stderr: string;
  /** -1 when a signal terminated the process. */
  exitCode: number;
  /** Why the process was stopped; null when it exited on its own. */
  stopped: 'aborted' | 'timeout' | 'overflow' | null;
}

/** Time that a stopped process has to remove its lock files. */
const stopGraceMs = 800;
const stderrBytes = 16 * 1024;

/** A call whose input may be streamed. */
export type StreamedCall = Omit<ProcessCall, 'stdin'> & { stdin: ProcessCall['stdin'] | Readable };

/** Runs a process in its own process group and stops the whole group with it. Throws when it cannot be started. */
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
      stdout: await joinChunks(stdout),
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

/**
 * Wraps a command in a shell that sets the limits and runs it as often as wanted. A write beyond the limit fails but
 * does not kill the process.
 */
function commandOf({ file, args, more, maxFileBytes, maxMemoryBytes }: StreamedCall): [string, readonly string[]] {
  const limits = [
    ...(maxFileBytes === null ? [] : [`trap '' XFSZ; ulimit -f ${Math.ceil(maxFileBytes / 512)} || exit`]),
    // supported on Linux only
    ...(maxMemoryBytes === null ? [] : [`ulimit -v ${Math.ceil(maxMemoryBytes / 1024)} 2> /dev/null`]),
  ];
  if (limits.length === 0 && more === undefined) return [file, args];
  const further = more?.runs.map((run) => ` && printf %s ${more.mark} && "$0" ${run.map(shellWord).join(' ')}`) ?? [];
  const command = further.length === 0 ? 'exec "$0" "$@"' : ['"$0" "$@"', ...further].join('');
  return ['/bin/sh', ['-c', [...limits, command].join('; '), file, ...args]];
}

/** Signals every process in the group that this process leads. Does nothing when the group has ended. */
export function signalGroup(pid: number | undefined, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // the group has already ended
  }
}

/** Collects the first `limit` bytes. Calls `onOverflow` when there are more, which are read and discarded. */
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

/** Writes the input. A process that exits without reading it is not an error: its exit code decides. */
function feed(stream: unknown, input: StreamedCall['stdin']): void {
  if (input === null || !(stream instanceof Writable)) return;
  stream.on('error', () => {});
  if (input instanceof Readable) input.pipe(stream);
  else stream.end(input);
}
