import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';

/** Reports whether a folder is the root of a mounted file system. */
export function hasOwnDisk(folder: string): boolean {
  const own = lstatSync(folder, { throwIfNoEntry: false });
  return own !== undefined && own.dev !== lstatSync(dirname(folder)).dev;
}
