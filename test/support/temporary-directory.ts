import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const variable = 'DOCKET_TEST_DIRECTORY';
/** A process that has just been killed may still write. */
const removal = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 };

/** Creates an empty directory that only this account can enter. It is removed when the run of the tests ends. */
export function temporaryDirectory(): string {
  return mkdtempSync(join((process.env[variable] ??= ownedByProcess()), 't-'));
}

/** Removes such a directory earlier, because it is large or one of many. */
export function removeDirectory(directory: string): Promise<void> {
  return rm(directory, removal);
}

/** For programs other than vitest. */
function ownedByProcess(): string {
  const directory = createRoot();
  process.on('exit', () => rmSync(directory, removal));
  return directory;
}

/** Global setup of vitest: one directory for the whole run. */
export function setup(): () => Promise<void> {
  const directory = createRoot();
  process.env[variable] = directory;
  return () => removeDirectory(directory);
}

function createRoot(): string {
  const directory = mkdtempSync(join(tmpdir(), 'docket-test-'));
  // tests of another account work below it
  chmodSync(directory, 0o711);
  return directory;
}
