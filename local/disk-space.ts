import { statfsSync } from 'node:fs';
import { StartError } from './start-error.ts';

const checkEveryMs = 2_000;
/** The disk counts as full below the first limit and as free again above the second. */
const fullBytes = 16 * 1024 * 1024;
const enoughBytes = 48 * 1024 * 1024;

function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/** Throws StartError when the folder's disk is full. */
export function checkDisk(directory: string): void {
  if (freeBytes(directory) < fullBytes)
    throw new StartError(`The disk of ${directory} is full; free some space and start again.`);
}

/** Logs what to do when the folder's disk fills up, and logs again once it has space. */
export function watchDisk(directory: string, log: (line: string) => void): Disposable {
  let isFull = false;
  const check = () => {
    const free = freeBytes(directory);
    if (!isFull && free < fullBytes) {
      isFull = true;
      log(`The disk of ${directory} is full; free some space. Docket keeps what it has accepted and continues then.`);
    } else if (isFull && free > enoughBytes) {
      isFull = false;
      log(`The disk of ${directory} has space again`);
    }
  };
  const timer = setInterval(check, checkEveryMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
