import { statfsSync } from 'node:fs';
import { StartError } from './start-error.ts';

const lookMs = 2_000;
/** Below the first the disk counts as full, above the second it has space again. */
const fullBytes = 16 * 1024 * 1024;
const enoughBytes = 48 * 1024 * 1024;

function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/** Throws StartError when nothing could be stored in a folder. */
export function checkDisk(directory: string): void {
  if (freeBytes(directory) < fullBytes)
    throw new StartError(`The disk of ${directory} is full; free some space and start again.`);
}

/** Says what to do when the disk of a folder becomes full, and when it has space again. */
export function watchDisk(directory: string, log: (line: string) => void): Disposable {
  let isFull = false;
  const look = () => {
    const free = freeBytes(directory);
    if (!isFull && free < fullBytes) {
      isFull = true;
      log(`The disk of ${directory} is full; free some space. Docket keeps what it has accepted and continues then.`);
    } else if (isFull && free > enoughBytes) {
      isFull = false;
      log(`The disk of ${directory} has space again`);
    }
  };
  const timer = setInterval(look, lookMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
