import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { commandLineOf, endProcess } from '../processes/process-identity.ts';
import { codeOf } from '../../lib/error-code.ts';

/** Ends a server that still runs on this data directory, and removes the lock of one that no longer runs. */
export async function endLeftoverServer(data: string): Promise<void> {
  const lockFile = join(data, 'postmaster.pid');
  let lock: string;
  try {
    lock = await readFile(lockFile, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  const pid = Number.parseInt(lock, 10);
  // the id may belong to an unrelated process by now, so the command line must name this data directory
  if (pid > 0 && (await commandLineOf(pid)).includes(`-D ${data} `))
    await endProcess(pid, { signal: 'SIGINT', timeoutMs: 5_000 });
  await rm(lockFile, { force: true });
}
