import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { endProcess, sendSignal } from '../../../local/processes/process-identity.ts';
import { openProcessRecord } from '../../../local/processes/process-record.ts';
import { localJsonSchema } from '../../../local/local-json.ts';
import type { ChildName, LocalJson } from '../../../local/local-json.ts';
import { removeDirectory } from '../temporary-directory.ts';

const checkout = resolve(import.meta.dirname, '../../..');
const startTimeoutMs = 240_000;

export interface TestStackOptions {
  /** A home that is kept; by default, a new one is created and removed at the end. */
  home?: string;
  /** Additional variables for the stack. */
  env?: NodeJS.ProcessEnv;
  /** By default, the program that `npm start` runs, as a child of the test. */
  command?: readonly [string, ...string[]];
  /** Ends the stack when it aborts, also while it is starting. */
  signal?: AbortSignal;
}

export interface TestStack extends AsyncDisposable {
  readonly home: string;
  /** Content of `local.json` when the stack was ready. */
  readonly localJson: LocalJson;
  /** The environment of the stack, in which the `docket` command line works, too. */
  readonly env: NodeJS.ProcessEnv;
  readonly supervisorPid: number;
  /** Returns the output of `npm start`. */
  output(): string;
  /** Reads `local.json` again: its process ids change when a process is restarted. */
  read(): Promise<LocalJson>;
  /** Sends SIGKILL to a process, which its supervisor restarts. */
  kill(name: ChildName): Promise<void>;
  /** Kills a process and resolves when a new one runs and is in `local.json`. */
  killAndWait(name: ChildName): Promise<LocalJson>;
  /** Suspends a process (SIGSTOP), so that it is not restarted, until `resume`. */
  pause(name: ChildName): Promise<void>;
  resume(name: ChildName): Promise<void>;
  /** Kills only the supervisor, with SIGKILL. */
  killSupervisor(): Promise<void>;
  /** Stops the stack as Ctrl-C does, and returns the exit code. */
  stop(): Promise<number | null>;
}

/** Creates a home that PostgreSQL can enter even when the tests run as root. It outlives this process, for its guard. */
export async function createTestHome(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'docket-test-stack-'));
  await chmod(folder, 0o711);
  return join(folder, 'home');
}

/** Removes a home of `createTestHome`, and ends processes that still use it. */
export async function removeTestHome(home: string): Promise<void> {
  await (await openProcessRecord(join(home, 'processes.json'))).endLeftovers();
  await removeDirectory(dirname(home));
}

/** Runs `npm start`'s program on free ports and resolves when it is ready. */
export async function startTestStack(options: TestStackOptions = {}): Promise<TestStack> {
  const home = options.home ?? (await createTestHome());
  options.signal?.throwIfAborted();
  const { DATABASE_URL: _database, TEMPORAL_ADDRESS: _temporal, ...inherited } = process.env;
  const env = { ...inherited, PORT: '0', LOG_LEVEL: 'info', DOCKET_HOME: home, ...options.env };
  const [program, ...args] = options.command ?? [process.execPath, join(checkout, 'local/start.ts')];
  const supervisor = spawn(program, args, { env, cwd: checkout });
  const pid = supervisor.pid;
  if (pid === undefined) throw new Error('npm start does not start.');
  let text = '';
  let onOutput = () => {};
  for (const stream of [supervisor.stdout, supervisor.stderr]) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      onOutput();
    });
  }
  const ended = new Promise<number | null>((done) => supervisor.once('close', (code) => done(code)));
  let hasEnded = false;
  void ended.then(() => (hasEnded = true));

  const read = async () => localJsonSchema.parse(JSON.parse(await readFile(join(home, 'local.json'), 'utf8')));
  const pidOf = async (name: ChildName) => {
    const found = (await read()).pids[name];
    if (found === null) throw new Error(`${name} does not run.`);
    return found;
  };
  const remove = async () => {
    if (!hasEnded) await endProcess(pid, { signal: 'SIGINT', timeoutMs: 20_000 });
    await ended;
    if (options.home === undefined) await removeTestHome(home);
  };

  options.signal?.addEventListener('abort', () => void remove(), { once: true });

  /** Waits for output; false when the supervisor ends without it. */
  const untilSaid = async (wanted: string, from = 0) => {
    const said = new Promise<void>((done) => {
      onOutput = () => {
        if (text.slice(from).includes(wanted)) done();
      };
      onOutput();
    });
    await Promise.race([said, ended]);
    return text.slice(from).includes(wanted);
  };
  const timer = setTimeout(() => sendSignal(pid, 'SIGKILL'), startTimeoutMs);
  const isReady = await untilSaid('Docket is ready');
  clearTimeout(timer);
  if (!isReady) {
    await remove();
    throw new Error(`npm start did not become ready:\n${text}`);
  }
  const localJson = await read();

  return {
    home,
    localJson,
    env,
    supervisorPid: pid,
    output: () => text,
    read,
    async kill(name) {
      sendSignal(await pidOf(name), 'SIGKILL');
    },
    async killAndWait(name) {
      const before = text.length;
      sendSignal(await pidOf(name), 'SIGKILL');
      if (!(await untilSaid(`${labels[name]} runs again`, before))) throw new Error(`npm start ended:\n${text}`);
      return read();
    },
    async pause(name) {
      sendSignal(await pidOf(name), 'SIGSTOP');
    },
    async resume(name) {
      sendSignal(await pidOf(name), 'SIGCONT');
    },
    async killSupervisor() {
      sendSignal(pid, 'SIGKILL');
      await ended;
    },
    async stop() {
      sendSignal(pid, 'SIGINT');
      return ended;
    },
    [Symbol.asyncDispose]: remove,
  };
}

const labels: Record<ChildName, string> = {
  api: 'API',
  worker: 'Worker',
  postgres: 'PostgreSQL',
  temporal: 'Temporal',
};
