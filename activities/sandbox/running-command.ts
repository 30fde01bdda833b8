import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Readable } from 'node:stream';
import type { Launch } from './launcher.ts';
import { noAnswerCode, type SandboxNetwork } from './network.ts';
import { isAlive } from './processes.ts';
import type { ProfileCall } from './profile.ts';
import { serveProxy, type CommandProxy } from './proxy.ts';
import { sampleOutput, type OutputSample } from './sample-output.ts';
import { SandboxError } from './sandbox-error.ts';
import type { Excess } from './watch.ts';

export interface SandboxCall extends ProfileCall {
  signal: AbortSignal;
  /** Receives samples of the output while the command runs. */
  onOutput?: ((sample: OutputSample) => void) | undefined;
}

/** Result of a command. `output` combines its stdout and stderr. */
export interface CommandEnd {
  exitCode: number | null;
  /** Why the command was stopped; null when it ended on its own. */
  stopped: Excess | 'timeout' | 'output' | null;
  output: Captured;
  /** Requests that the network refused, as sentences. */
  notes: string[];
  durationMs: number;
}

const keepBytes = 256 * 1024;
const outputBytes = 64 * 1024 * 1024;
const endMs = 5_000;
/** Time in which a sandbox that was stopped during its setup still tells its first process; a container is slower. */
const bringUpMs = { sandbox: 300, container: 10_000 };

export interface StartedCommand extends Pick<Launch, 'child' | 'stream' | 'status' | 'stage'> {
  /** Null when the command has no network access. */
  network: SandboxNetwork | null;
  /** File with the first process, once the command waits for its answer; null where the status tells it. */
  pidFile: string | null;
  onOutput?: SandboxCall['onOutput'];
}

/** A command whose sandbox was started, until all of its processes have ended. */
export class RunningCommand {
  /** First process of the sandbox's outermost PID namespace; when it ends, so do all others. */
  firstPid: number | null = null;
  readonly #child: ChildProcess;
  readonly #beganAt = performance.now();
  readonly #streams: Readable[];
  readonly #closed: Promise<unknown>;
  readonly #output: () => Captured;
  readonly #problem: () => Captured;
  readonly #network: SandboxNetwork | null;
  readonly #pidFile: string | null;
  #proxy: CommandProxy | null = null;
  #stopped: CommandEnd['stopped'] | 'aborted' = null;
  #exitCode: number | null = null;

  constructor({ child, stream, status, stage, network, pidFile, onOutput }: StartedCommand) {
    this.#child = child;
    this.#network = network;
    this.#pidFile = pidFile;
    this.#streams = [stream, status, ...(stage === null ? [] : [stage])];
    this.#closed = Promise.all([child, ...this.#streams].map((one) => once(one, 'close')));
    // a rejection is handled at the end
    this.#closed.catch(() => undefined);
    const onOverflow = () => this.stop('output');
    this.#output = capture(stream, { keepBytes, limitBytes: outputBytes, onOverflow });
    if (onOutput !== undefined) sampleOutput(stream, onOutput);
    this.#problem = capture(readable(child.stderr), { keepBytes: 4_096, limitBytes: outputBytes, onOverflow });
    const onExit = (text: string) => (this.#exitCode = numberIn(text, 'exit-code'));
    const onStart = (text: string) => this.#begin(numberIn(text, 'child-pid'));
    readStatus(status, stage === null && pidFile === null ? [onStart, onExit] : [onExit]);
    if (stage !== null) readStatus(stage, [onStart]);
    child.once('message', (_said, listener) => this.#answer(listener));
  }

  stop(reason: CommandEnd['stopped'] | 'aborted'): void {
    if (this.#stopped !== null) return;
    this.#stopped = reason;
    // an engine orphans its child if it dies during setup, so it gets a moment to tell the child's pid
    const setupMs = this.firstPid !== null ? 0 : bringUpMs[this.#pidFile === null ? 'sandbox' : 'container'];
    if (setupMs === 0) this.#kill();
    else setTimeout(() => this.#kill(), setupMs).unref();
    setTimeout(() => this.#letGo(), setupMs + endMs).unref();
  }

  /**
   * Waits for the end of the command. `excessAtEnd` is called once all processes have ended; a limit that it returns
   * applies to a command that had stayed within its limits until then.
   */
  async end(
    { signal, timeoutMs }: Pick<SandboxCall, 'signal' | 'timeoutMs'>,
    excessAtEnd: () => Promise<Excess | null>,
  ): Promise<CommandEnd> {
    const timer = setTimeout(() => this.stop('timeout'), timeoutMs);
    const onAbort = () => this.stop('aborted');
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      await this.#closed;
      await this.#untilGone();
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      this.#proxy?.[Symbol.dispose]();
    }
    const durationMs = performance.now() - this.#beganAt;
    this.#stopped ??= await excessAtEnd();
    const stopped = this.#stopped === 'aborted' ? null : this.#stopped;
    if (this.#stopped === null && (this.#exitCode === null || (this.#pidFile !== null && this.firstPid === null))) {
      throw new SandboxError(`The sandbox did not come up: ${this.#problem().head.toString('utf8').slice(0, 500)}`);
    }
    if (this.#stopped === null && this.#network !== null && this.#proxy === null && this.#exitCode === noAnswerCode)
      throw new SandboxError("The sandbox's network proxy did not start.");
    const exitCode = stopped === null ? this.#exitCode : null;
    return { exitCode, stopped, output: this.#output(), notes: this.#proxy?.notes() ?? [], durationMs };
  }

  /**
   * Starts the proxy, if the command has a network, and answers the sandbox. The command starts after this answer; by
   * then nothing in the sandbox has the channel open.
   */
  #answer(listener: unknown): void {
    if (this.#pidFile !== null) this.#begin(Number(readFileSync(this.#pidFile, 'utf8')));
    if (listener instanceof Server && this.#network !== null) this.#proxy = serveProxy(listener, this.#network);
    // not disconnected on this side: Node would then never emit the child's close event
    if (this.#child.connected) this.#child.send('start', () => undefined);
  }

  #begin(firstPid: number | null): void {
    this.firstPid = firstPid;
    // it may have come up after it was stopped
    if (this.#stopped !== null) this.#kill();
  }

  #kill(): void {
    if (this.firstPid !== null) signalTo(this.firstPid);
    // podman ends with the container, and cleans up after it
    if (this.firstPid === null || this.#pidFile === null) this.#killEngine();
  }

  #killEngine(): void {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid !== undefined && exitCode === null && signalCode === null) signalTo(-pid);
  }

  /** Closes the output streams of a stopped command, even if a process still holds them. */
  #letGo(): void {
    this.#killEngine();
    for (const stream of [...this.#streams, ...this.#child.stdio]) stream?.destroy();
  }

  /**
   * Waits until all processes are gone. Outputs close once no process holds them; a process that holds none may end a
   * moment later.
   */
  async #untilGone(): Promise<void> {
    const { firstPid } = this;
    if (firstPid === null) return;
    const giveUpAt = performance.now() + endMs;
    while (await isAlive(firstPid)) {
      if (performance.now() > giveUpAt) throw new SandboxError("The command's processes did not exit.");
      await sleep(1);
    }
  }
}

function readable(stream: unknown): Readable {
  if (stream instanceof Readable) return stream;
  throw new SandboxError('The sandbox has no output.');
}

/** Calls the listeners with everything that the engine has reported so far. */
function readStatus(stream: Readable, listeners: ((text: string) => void)[]): void {
  let text = '';
  stream.on('error', () => undefined);
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    for (const listen of listeners) listen(text);
  });
}

function numberIn(text: string, name: string): number | null {
  const found = new RegExp(`"${name}": (\\d+)`).exec(text)?.[1];
  return found === undefined ? null : Number(found);
}

function signalTo(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // the process has already ended
  }
}

/** Output of a command: its beginning and its end. */
interface Captured {
  head: Buffer;
  tail: Buffer;
  /** Bytes omitted between `head` and `tail`. */
  omitted: number;
}

/**
 * Captures the first and the last `keepBytes` of a stream, and calls `onOverflow` once it exceeds `limitBytes`.
 * Everything in between is read and dropped.
 */
function capture(
  stream: Readable,
  { keepBytes, limitBytes, onOverflow }: { keepBytes: number; limitBytes: number; onOverflow(): void },
): () => Captured {
  const head: Buffer[] = [];
  let tail: Buffer[] = [];
  let headBytes = 0;
  let tailBytes = 0;
  let total = 0;
  stream.on('error', () => undefined);
  stream.on('data', (chunk: Buffer) => {
    total += chunk.length;
    const first = chunk.subarray(0, keepBytes - headBytes);
    const rest = chunk.subarray(first.length);
    if (first.length > 0) head.push(first);
    headBytes += first.length;
    if (rest.length > 0) tail.push(rest);
    tailBytes += rest.length;
    if (tailBytes > 4 * keepBytes) {
      tail = [Buffer.concat(tail).subarray(-keepBytes)];
      tailBytes = keepBytes;
    }
    if (total > limitBytes) onOverflow();
  });
  return () => {
    const last = Buffer.concat(tail).subarray(-keepBytes);
    return { head: Buffer.concat(head), tail: last, omitted: total - headBytes - last.length };
  };
}
