import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Where the processes that tests start keep what they have compiled. */
export const compiledCode = join(import.meta.dirname, '../../node_modules/.cache/docket/tests');

/** Three times what all tests compile. */
const maxFiles = 50_000;

/** Global setup of vitest: Node never removes what it compiled of earlier sources. A process that loses it compiles again. */
export function setup(): void {
  boundFiles(compiledCode, maxFiles);
}

/** Removes a folder that holds more files. */
export function boundFiles(folder: string, most: number): void {
  if (existsSync(folder) && readdirSync(folder, { recursive: true }).length > most)
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}
