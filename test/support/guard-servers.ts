import { spawn } from 'node:child_process';
import { join } from 'node:path';

/**
 * Ends the servers whose processes a home records, and removes `folder`, once this process has ended, however it ended:
 * by a process that no signal to this one reaches.
 */
export function guardServers(home: string, folder = home): void {
  const args = [join(import.meta.dirname, 'server-guard.ts'), home, folder];
  const child = spawn(process.execPath, args, { detached: true, stdio: ['pipe', 'ignore', 'inherit'] });
  child.unref();
}
