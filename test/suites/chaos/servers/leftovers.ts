import { readFile, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { commandLineOf, identityOf } from '../../../../local/processes/process-identity.ts';

const patienceMs = 10_000;
const pollMs = 100;

/** Finds processes that still use a folder after a grace period for the last ones to end. */
export async function leftRunning(folder: string): Promise<string[]> {
  const deadline = Date.now() + patienceMs;
  let found = await processesOf(folder);
  while (found.length > 0 && Date.now() < deadline) {
    await delay(pollMs);
    found = await processesOf(folder);
  }
  return found;
}

/** Processes that use a folder: in their command line, their environment or their working directory. */
async function processesOf(folder: string): Promise<string[]> {
  if (process.platform !== 'linux') return [];
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const place = join('/proc', pid);
      const words = await Promise.all([
        commandLineOf(Number(pid)),
        readFile(join(place, 'environ'), 'utf8').catch(() => ''),
        readlink(join(place, 'cwd')).catch(() => ''),
      ]);
      const isOurs = words.some((text) => text.includes(folder)) && (await identityOf(Number(pid))) !== null;
      return isOurs ? [`${pid} ${words[0]}`] : [];
    }),
  );
  return found.flat();
}
