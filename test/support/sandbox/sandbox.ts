import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createEgress, type EgressOptions } from '../../../lib/network/egress.ts';
import { openSandbox } from '../../../activities/sandbox/open-sandbox.ts';
import { openSandboxHost } from '../../../activities/sandbox/sandbox-host.ts';
import type { CommandEnvironment, SandboxLimits } from '../../../activities/sandbox/command-environment.ts';
import type { SandboxRoot } from '../../../activities/sandbox/sandbox-root.ts';
import type { CommandEnd } from '../../../activities/sandbox/running-command.ts';
import { endPause, testEngine, withSubordinateIds } from './engine.ts';
import type { AccountRequest } from './sandbox-account.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

/** `owner`: the account that the tests run as; `other`: an ordinary user, when that is root. */
export type TestAccount = 'owner' | 'other';

interface RunOptions {
  timeoutMs?: number;
  signal?: AbortSignal;
  jobId?: string;
  environment?: Partial<CommandEnvironment>;
}

export interface TestSandbox extends AsyncDisposable {
  /** A folder next to the tree, where a worker would keep secrets. */
  directory: string;
  tree: string;
  /** Runs a command; with `jobId`, as another job with its own tree. */
  run(command: string, options?: RunOptions): Promise<CommandEnd>;
  /** Returns the output of a command that exits with this code. */
  output(command: string, exitCode?: number, options?: RunOptions): Promise<string>;
  /** Creates a folder next to the tree, of the account's own. */
  folder(name: string): Promise<string>;
}

const otherUid = 64_321;
const setpriv = '/usr/bin/setpriv';
const asOtherUser = [`--reuid=${otherUid}`, `--regid=${otherUid}`, '--clear-groups'];
const accountProgram = join(import.meta.dirname, 'sandbox-account.ts');
export const testLimits: SandboxLimits = { memoryBytes: 384 << 20, processes: 64, diskBytes: 32 << 20 };

/** Opens a sandbox of the kind that a test is about. */
export type OpenSandbox = (options?: TestSandboxOptions) => Promise<TestSandbox>;

/** Returns the accounts that have a sandbox here, and why the others do not; the tests of those are skipped. */
export async function accountsWithSandbox(): Promise<{ accounts: TestAccount[]; problem: string | null }> {
  const directory = temporaryDirectory();
  const { problem } = await openSandbox({ directory, engine: testEngine, limits: testLimits });
  if (problem !== null) console.error(`${problem} The tests of the sandbox are left out.`);
  if (problem !== null) return { accounts: [], problem };
  return { accounts: (await hasOther()) ? ['owner', 'other'] : ['owner'], problem: null };
}

/** Only for root, and if an ordinary user can read this checkout. */
async function hasOther(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  try {
    await promisify(execFile)(setpriv, [...asOtherUser, 'test', '-r', accountProgram]);
    return true;
  } catch {
    console.error('An ordinary user cannot read this checkout. The tests of its sandbox are left out.');
    return false;
  }
}

/** Network that commands of a test may reach; for the other account, the system resolves names. */
export interface TestNetwork extends EgressOptions {
  hosts: string[];
}

export interface TestSandboxOptions {
  limits?: SandboxLimits;
  network?: TestNetwork;
  authorities?: string | null;
  /** Created if missing; belongs to the account that runs the tests. */
  tree?: string;
  /** File system of an image in which commands run. */
  root?: SandboxRoot | null;
}

/** Opens the sandbox of an account, with a tree that only that account may enter. */
export async function openTestSandbox(account: TestAccount, options: TestSandboxOptions = {}): Promise<TestSandbox> {
  const { limits = testLimits, network, authorities = null, root = null } = options;
  const directory = temporaryDirectory();
  const tree = options.tree ?? join(directory, 'private', 'tree');
  await mkdir(tree, { recursive: true });
  await mkdir(join(directory, 'private'), { recursive: true });
  await chmod(join(directory, 'private'), 0o700);
  if (account === 'other')
    for (const path of [directory, join(directory, 'private'), tree]) await chown(path, otherUid, otherUid);
  const { runs, close } = await (account === 'owner' ? asOwner : asOther)({
    directory,
    limits,
    network,
    authorities,
  });

  async function treeOf(jobId: string): Promise<string> {
    const other = join(directory, 'private', jobId);
    await mkdir(other, { recursive: true });
    if (account === 'other') await chown(other, otherUid, otherUid);
    return other;
  }

  const run: TestSandbox['run'] = async (
    command,
    { timeoutMs = 60_000, signal = new AbortController().signal, jobId, environment } = {},
  ) => {
    const place = jobId === undefined ? tree : await treeOf(jobId);
    return runs({
      // the user of another job than those of other test processes, whose processes would count, too
      jobId: jobId ?? `job_test_${process.pid}`,
      tree: place,
      command,
      timeoutMs,
      signal,
      environment: { root, ...environment },
    });
  };
  return {
    directory,
    tree,
    run,
    folder: treeOf,
    async output(command, exitCode = 0, options = {}) {
      const end = await run(command, options);
      const text = Buffer.concat([end.output.head, end.output.tail]).toString('utf8');
      if (end.exitCode !== exitCode) throw new Error(`${end.stopped ?? end.exitCode}: ${text}`);
      return text;
    },
    async [Symbol.asyncDispose]() {
      await close();
    },
  };
}

type Runs = (call: {
  jobId: string;
  tree: string;
  command: string;
  timeoutMs: number;
  signal: AbortSignal;
  environment?: Partial<CommandEnvironment>;
}) => Promise<CommandEnd>;

interface Opening {
  directory: string;
  limits: SandboxLimits;
  network: TestNetwork | undefined;
  authorities: string | null;
}

/** Runs commands as a worker does, in a small process; with a custom resolver, in this process. */
async function asOwner(opening: Opening): Promise<{ runs: Runs; close(): Promise<void> }> {
  const { directory: parent, limits, network: wanted, authorities } = opening;
  const engine = testEngine;
  const directory = join(parent, 'sandbox');
  if (wanted?.resolve === undefined) {
    const network = wanted === undefined ? null : { hosts: wanted.hosts, privateHosts: wanted.privateHosts ?? [] };
    const opened = await openSandboxHost({ directory, limits, engine, network, authorities });
    if (opened.sandbox === null) throw new Error(opened.problem);
    const { sandbox } = opened;
    return { runs: (call) => sandbox.run(call), close: async () => opened[Symbol.asyncDispose]() };
  }
  const network = { hosts: wanted.hosts, egress: createEgress(wanted) };
  const { sandbox, problem } = await openSandbox({ directory, limits, engine, network, authorities });
  if (sandbox === null) throw new Error(problem);
  return { runs: (call) => sandbox.run(call), close: () => Promise.resolve() };
}

/** Runs commands in a process of an ordinary user, like a worker without root. */
async function asOther({
  directory,
  limits,
  network,
  authorities,
}: Opening): Promise<{ runs: Runs; close(): Promise<void> }> {
  const words = testEngine === 'podman' ? [...withSubordinateIds(otherUid), setpriv] : [setpriv];
  const child = fork(accountProgram, [], {
    execPath: words[0]!,
    execArgv: [...words.slice(1), ...asOtherUser, process.execPath],
    serialization: 'advanced',
    env: { ...process.env, HOME: directory },
  });
  const opened = answerOf(child, ({ kind }) => kind === 'opened');
  const hosts = network && { hosts: network.hosts, privateHosts: network.privateHosts ?? [] };
  const opening = { directory: join(directory, 'sandbox'), limits, engine: testEngine, network: hosts, authorities };
  child.send({ kind: 'open', ...opening } satisfies AccountRequest);
  const { problem } = await opened;
  if (problem !== null) throw new Error(problem);
  child.setMaxListeners(0);
  let calls = 0;
  const runs: Runs = async ({ signal, ...call }) => {
    const id = (calls += 1);
    const ended = answerOf(child, (answer) => answer.id === id);
    const abort = () => child.send({ kind: 'abort', id } satisfies AccountRequest);
    child.send({ kind: 'run', id, ...call } satisfies AccountRequest);
    signal.addEventListener('abort', abort, { once: true });
    const { end, message } = await ended;
    if (end === undefined) throw new Error(message);
    const { head, tail, omitted } = end.output;
    return { ...end, output: { head: Buffer.from(head), tail: Buffer.from(tail), omitted } };
  };
  const close = async () => {
    const exited = once(child, 'exit');
    child.disconnect();
    await exited;
    if (testEngine === 'podman') await endPause(otherUid);
  };
  return { runs, close };
}

interface AccountAnswer {
  kind: string;
  id?: number;
  problem?: string | null;
  end?: CommandEnd;
  message?: string;
}

async function answerOf(child: ChildProcess, isWanted: (answer: AccountAnswer) => boolean): Promise<any> {
  const ended = once(child, 'exit').then(() => {
    throw new Error('the process of the other account ended');
  });
  const wanted = new Promise((resolve) => {
    const listen = (answer: AccountAnswer) => {
      if (!isWanted(answer)) return;
      child.off('message', listen);
      resolve(answer);
    };
    child.on('message', listen);
  });
  return Promise.race([wanted, ended]);
}

/** Returns the ids of the processes whose command line contains a text. */
export async function processesNamed(text: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const line = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (line.includes(text)) found.push(Number(name));
  }
  return found;
}
