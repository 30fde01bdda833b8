import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Compile cache of the processes that tests start. */
export const compiledCode = join(import.meta.dirname, '../../node_modules/.cache/docket/tests');

/** Three times as many files as all tests compile. */
const maxFiles = 50_000;

/**
 * Global setup of vitest. Empties the compile cache when it has grown too large, because Node never removes entries of
 * earlier sources.
 */
export function setup(): void {
  boundFiles(compiledCode, maxFiles);
}

/** Removes a folder that holds more files. */
export function boundFiles(folder: string, most: number): void {
  if (existsSync(folder) && readdirSync(folder, { recursive: true }).length > most)
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}
