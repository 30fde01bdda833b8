import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { codeOf } from '../../lib/error-code.ts';

const execute = promisify(execFile);
const pollMs = 25;

/**
 * Returns an identity that distinguishes a process from a later one with the same id: its boot and its start time.
 * Returns null when there is no such process, or only a zombie.
 */
export async function identityOf(pid: number): Promise<string | null> {
  if (process.platform !== 'linux') return identityFromPs(pid);
  try {
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    ]);
    // the name in parentheses may contain anything; after it, the state is the first field and the start time the
    // twentieth
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const isDead = fields[0] === 'Z' || fields[0] === 'X';
    return isDead ? null : `${boot.trim()}:${fields[19]}`;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH') return null;
    throw error;
  }
}

async function identityFromPs(pid: number): Promise<string | null> {
  try {
    const { stdout } = await execute('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
    });
    const [state = '', ...began] = stdout.trim().split(/\s+/);
    return state === '' || state.startsWith('Z') ? null : began.join(' ');
  } catch {
    return null; // ps exits with 1 when there is no such process
  }
}

/** Returns the command line of a process, its arguments separated by spaces; empty when there is no such process. */
export async function commandLineOf(pid: number): Promise<string> {
  try {
    if (process.platform === 'linux')
      return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ').trim();
    // without -ww, ps of macOS cuts lines off at 79 characters
    return (await execute('ps', ['-ww', '-o', 'command=', '-p', String(pid)])).stdout.trim();
  } catch {
    return '';
  }
}

/** Sends a signal, to the whole group when `pid` is negative. Returns false when there is no process to receive it. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false;
    throw error;
  }
}

/**
 * Ends a process that is not a child of this one: with `signal` first, then, if it is still running, with SIGKILL to
 * its group.
 */
export async function endProcess(
  pid: number,
  { signal, timeoutMs, identity }: { signal: NodeJS.Signals; timeoutMs: number; identity?: string },
): Promise<void> {
  const own = identity ?? (await identityOf(pid));
  const isGone = async () => own === null || (await identityOf(pid)) !== own;
  if (await isGone()) return;
  sendSignal(pid, signal);
  if (await becomesTrue(isGone, timeoutMs)) return;
  if (!sendSignal(-pid, 'SIGKILL')) sendSignal(pid, 'SIGKILL');
  if (!(await becomesTrue(isGone, 10_000))) throw new Error(`The process ${pid} is still running after SIGKILL.`);
}

async function becomesTrue(condition: () => Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    if (await condition()) return true;
    if (Date.now() > deadline) return false;
    await sleep(pollMs);
  }
}
