import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { commandLineOf, endProcess } from '../processes/process-identity.ts';
import { codeOf } from '../start-error.ts';

/** Ends a server that still runs on these data, and removes the lock of one that does not. */
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
  // the id may have passed to an unrelated process: only one that names these data is a server of theirs
  if (pid > 0 && (await commandLineOf(pid)).includes(`-D ${data} `))
    await endProcess(pid, { signal: 'SIGINT', timeoutMs: 5_000 });
  await rm(lockFile, { force: true });
}
