import { spawn } from 'node:child_process';
import { join } from 'node:path';

/**
 * Starts a guard that outlives this process, however it ends. The guard then ends the servers whose processes a home
 * records, and removes the folders.
 */
export function guardServers(home: string, ...folders: string[]): void {
  const args = [join(import.meta.dirname, 'server-guard.ts'), home, ...folders];
  const child = spawn(process.execPath, args, { detached: true, stdio: ['pipe', 'ignore', 'inherit'] });
  child.unref();
}
