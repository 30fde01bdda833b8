import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { secretPartOf } from '../../lib/redaction/private-key.ts';
import { redact } from '../../lib/redaction/redactor.ts';
import { createEgress, type Egress } from '../../lib/network/egress.ts';
import { credentialConfig, credentialText, type GitCredential } from './git-credential.ts';
import { cannotStart, GitError, outputTooLarge, transferTimedOut, transferTooLarge } from './git-error.ts';
import { gitEnvironment, prepareHome, programPath, type Transport } from './git-environment.ts';
import { fileFailureOf, gitFailureOf } from './git-failure.ts';
import { runProcess, type ProcessCall, type ProcessOutcome } from './git-process.ts';
import { checkedAddresses, pinRemote } from './pin-remote.ts';
import { ProcessHostError } from './process-host.ts';
import { defaultTransferLimits, type TransferLimits } from './transfer-limits.ts';
import { isNotConnected } from './ssh-failure.ts';
import { openSshSession, serverOf, type SshCredential } from './ssh-session.ts';

/** A credential for a repository's server, over HTTPS or ssh. */
export type RemoteCredential = GitCredential | SshCredential;

export interface GitCall {
  /** Always a directory of the worker, never one that a repository's content could have written. */
  gitDir: string;
  /** The working tree that the command reads or writes; absent for commands on objects and refs. */
  workTree?: string;
  args: readonly string[];
  input?: string | Uint8Array;
  /** Transports that the command may use; none when absent. */
  transports?: readonly Transport[];
  /** The repository that a command with a transport connects to. The transfer limits apply to it. */
  remote?: string;
  credential?: RemoteCredential | null;
  env?: Readonly<Record<string, string>>;
  /** Output size at which the command is stopped, with `truncated` set. When absent, more than 64 MB is an error. */
  maxOutputBytes?: number;
  timeoutMs?: number;
  /** Exit codes besides 0 that do not throw. */
  acceptedExitCodes?: readonly number[];
  signal: AbortSignal;
}

export interface GitResult {
  stdout: Buffer;
  /** Messages of git and of the remote. Only the credential of the call is redacted in them. */
  stderr: string;
  truncated: boolean;
  exitCode: number;
}

/** Commands on the same directories that need no transport. */
export type GitSequence = Omit<GitCall, 'args' | 'maxOutputBytes' | 'acceptedExitCodes' | 'transports' | 'remote'> & {
  commands: readonly Pick<GitCall, 'args' | 'maxOutputBytes'>[];
};

export interface GitOptions {
  gitBinary?: string;
  /** A directory of the worker that holds git's home and its configuration. */
  home: string;
  /** CA certificates for servers, in PEM; null uses those of the machine. */
  authorities?: string | null;
  /** The transports that any command may use. `http` is only for tests that serve git on loopback. */
  transports?: readonly Transport[];
  egress?: Egress;
  /** Size and time limits of one fetch or push. */
  transfer?: TransferLimits;
  /** Memory limit of each git process. */
  memoryBytes?: number;
  /** Starts the processes; by default this process does. */
  run?(call: ProcessCall): Promise<ProcessOutcome>;
}

const defaultMemoryBytes = 2 ** 32;
/** The oldest version with `http.curloptResolve` and with merges of trees. */
const oldestVersion = [2, 38];
/** Exit code of a shell that cannot find a program. */
const notFoundByShell = 127;
const defaultTimeoutMs = 2 * 60_000;
const defaultMaxOutputBytes = 64 * 1024 * 1024;
/** Longest output of a sequence, in bytes. Commands with a longer one are run separately, each with its own limit. */
const maxSequenceBytes = 1024 * 1024;

export type Git = ReturnType<typeof createGit>;

/**
 * Creates the runner for all of the worker's own git commands. Each has a complete environment of its own, no hooks,
 * filters, monitors or prompts, and a process group that ends with the call.
 */
export function createGit(options: GitOptions) {
  const { gitBinary = 'git', home, authorities = null, transports = ['https', 'file', 'ssh'] } = options;
  const { egress = createEgress(), transfer = defaultTransferLimits, run: start = runProcess } = options;
  const { memoryBytes = defaultMemoryBytes } = options;
  let prepared: Promise<void> | null = null;
  let isRecent: boolean | null = null;

  async function homeReady(): Promise<void> {
    prepared ??= prepareHome(home, { authorities });
    try {
      await prepared;
    } catch (error) {
      prepared = null;
      throw fileFailureOf(error);
    }
  }

  /** Throws GitError when git is missing or too old. */
  async function checkVersion(): Promise<void> {
    await homeReady();
    const program = { file: gitBinary, cwd: home, env: gitEnvironment({ home, transports: [] }) };
    isRecent ??= isAtLeast(await readVersion(program), oldestVersion);
    if (isRecent) return;
    const message = `git ${oldestVersion.join('.')} or newer is required; install it on the worker.`;
    throw new GitError('other', { message });
  }

  /** Returns the options that pin the remote's addresses. Throws for an older git, which would ignore them. */
  async function pinned({ remote, signal }: GitCall): Promise<string[]> {
    await checkVersion();
    return pinRemote({ egress, signal }, remote);
  }

  /** Runs one git command to completion. Errors: GitError. */
  async function run(call: GitCall): Promise<GitResult> {
    if (call.signal.aborted) throw new GitError('aborted');
    await homeReady();
    const { credential = null } = call;
    if (call.transports?.includes('ssh') === true && transports.includes('ssh')) return await runBySsh(call);
    if (credential !== null && 'privateKey' in credential) throw new GitError('authentication');
    return await runWithToken(call, credential);
  }

  /** Retries once with a renewed token. That is safe because a server that rejects a credential changes nothing. */
  async function runWithToken(call: GitCall, credential: GitCredential | null): Promise<GitResult> {
    const token = (await credential?.token()) ?? null;
    try {
      return await runByHttp(call, { credential, token });
    } catch (error) {
      if (token === null || !(error instanceof GitError && error.kind === 'authentication')) throw error;
      const fresh = (await credential?.token({ fresh: true })) ?? token;
      if (fresh === token) throw error;
      return await runByHttp(call, { credential, token: fresh });
    }
  }

  async function runByHttp(
    call: GitCall,
    { credential, token }: { credential: GitCredential | null; token: string | null },
  ): Promise<GitResult> {
    const allowed = allowedOf(call);
    const pins = allowed.some(isNetwork) ? await pinned(call) : [];
    return await runOnce(call, {
      options: [...pins, ...credentialConfig(credential)],
      secretInput: credentialText(credential, token),
      secrets: token === null ? [] : [token],
    });
  }

  /** Tries one address after another until one accepts the connection. */
  async function runBySsh(call: GitCall): Promise<GitResult> {
    const { credential = null, remote: repository = '', signal } = call;
    if (credential === null || !('privateKey' in credential)) {
      const message = 'The project has no ssh key. Give it one with --ssh-key, then retry the job.';
      throw new GitError('authentication', { message });
    }
    const { host, port } = serverOf(repository);
    const url = new URL(`https://${host}:${port}`);
    const found = await checkedAddresses({ egress, signal }, url);
    const addresses = found.length === 0 ? [url.hostname] : found;
    for (const [at, address] of addresses.entries()) {
      const abandonedAfterMs = 2 * Math.max(transfer.timeoutMs, defaultTimeoutMs);
      const request = { home, path: programPath, repository, credential, address, abandonedAfterMs };
      await using session = await openSshSession(request);
      try {
        return await runOnce(call, { env: session.env, secrets: [secretPartOf(credential.privateKey)], isSsh: true });
      } catch (error) {
        if (at === addresses.length - 1 || !isNotConnected(error)) throw error;
      }
    }
    throw new GitError('unreachable');
  }

  /**
   * Runs commands one after another until one fails, and returns their results. They must be repeatable, and at most one
   * reads the input. Starting each separately would cost as much CPU as most of them use. Errors: GitError.
   */
  async function runAll({ commands, ...shared }: GitSequence): Promise<GitResult[]> {
    const [first, ...others] = commands;
    if (first === undefined) return [];
    if (shared.signal.aborted) throw new GitError('aborted');
    await homeReady();
    const more = { runs: others.map(({ args }) => args), mark: randomUUID() };
    const together = { ...shared, args: first.args, maxOutputBytes: maxSequenceBytes };
    const result = await runOnce(together, { secrets: [], more });
    const outputs = result.truncated ? [] : splitAt(result.stdout, more.mark);
    const isTooLong = outputs.some(({ length }, at) => length > (commands[at]?.maxOutputBytes ?? Infinity));
    if (outputs.length === commands.length && !isTooLong) return outputs.map((stdout) => ({ ...result, stdout }));
    const results: GitResult[] = [];
    for (const command of commands) results.push(await run({ ...shared, ...command }));
    return results;
  }

  const allowedOf = (call: GitCall) => call.transports?.filter((transport) => transports.includes(transport)) ?? [];

  async function runOnce(call: GitCall, settings: TransportSettings): Promise<GitResult> {
    const { options: before = [], env = {}, secretInput = null, secrets, isSsh = false, more } = settings;
    const reachesOut = call.remote !== undefined;
    const outcome = await runGit(start, {
      file: gitBinary,
      args: [...before, ...call.args],
      more,
      maxFileBytes: reachesOut ? transfer.bytes : null,
      maxMemoryBytes: memoryBytes,
      cwd: call.workTree ?? call.gitDir,
      env: { ...gitEnvironment({ home, transports: allowedOf(call) }), ...directoriesOf(call), ...call.env, ...env },
      stdin: call.input ?? null,
      secretInput,
      maxOutputBytes: call.maxOutputBytes ?? defaultMaxOutputBytes,
      timeoutMs: call.timeoutMs ?? (reachesOut ? transfer.timeoutMs : defaultTimeoutMs),
      signal: call.signal,
    });
    if (outcome.stopped === 'timeout' && reachesOut) throw transferTimedOut(transfer);
    if (outcome.stopped === 'aborted' || outcome.stopped === 'timeout') throw new GitError(outcome.stopped);
    const { stdout, stderr, exitCode } = outcome;
    if (exitCode === notFoundByShell) throw cannotStart();
    const truncated = outcome.stopped === 'overflow';
    // a caller that set no limit would take the truncated output for all of it
    if (truncated && call.maxOutputBytes === undefined) throw outputTooLarge();
    if (truncated || exitCode === 0 || call.acceptedExitCodes?.includes(exitCode) === true) {
      return { stdout, stderr: redact(stderr, secrets), truncated, exitCode };
    }
    const failure = gitFailureOf({ stderr, secrets, isSsh });
    if (failure.kind === 'other') await checkVersion();
    throw failure.kind === 'too-large' ? transferTooLarge(transfer, failure) : failure;
  }

  return { run, runAll, checkVersion };
}

/** The options, environment and secrets that a call adds for its transport. */
interface TransportSettings {
  options?: readonly string[];
  env?: Readonly<Record<string, string>>;
  secretInput?: string | null;
  secrets: readonly string[];
  isSsh?: boolean;
  more?: ProcessCall['more'];
}

function isNetwork(transport: Transport): boolean {
  return transport !== 'file';
}

async function runGit(run: (call: ProcessCall) => Promise<ProcessOutcome>, call: ProcessCall) {
  try {
    return await run(call);
  } catch (error) {
    if (!existsSync(call.cwd)) throw new GitError('corrupt', { detail: 'A directory of the working copy is missing.' });
    if (error instanceof ProcessHostError)
      throw new GitError('other', { message: 'git was killed by another process.', cause: error });
    throw cannotStart(error);
  }
}

async function readVersion(program: Pick<ProcessCall, 'file' | 'cwd' | 'env'>): Promise<readonly number[]> {
  const { stdout } = await runGit(runProcess, {
    ...program,
    args: ['version'],
    maxFileBytes: null,
    maxMemoryBytes: null,
    stdin: null,
    secretInput: null,
    maxOutputBytes: 1_000,
    timeoutMs: defaultTimeoutMs,
    signal: new AbortController().signal,
  });
  return /(?<!\d)\d+(?:\.\d+)+/.exec(stdout.toString())?.[0].split('.').map(Number) ?? [];
}

function isAtLeast(version: readonly number[], [major = 0, minor = 0]: readonly number[]): boolean {
  const [first = 0, second = 0] = version;
  return first > major || (first === major && second >= minor);
}

function directoriesOf({ gitDir, workTree }: GitCall): Record<string, string> {
  return workTree === undefined ? { GIT_DIR: gitDir } : { GIT_DIR: gitDir, GIT_WORK_TREE: workTree };
}

function splitAt(bytes: Buffer, mark: string): Buffer[] {
  const at = bytes.indexOf(mark);
  if (at === -1) return [bytes];
  return [bytes.subarray(0, at), ...splitAt(bytes.subarray(at + mark.length), mark)];
}
