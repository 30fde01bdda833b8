import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const variable = 'DOCKET_TEST_DIRECTORY';
/** Retries, because a process that was just killed may still write. */
const removal = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 };
let own: string | null = null;

/** Creates an empty directory that only this account can enter. It is removed when the run of the tests ends. */
export function temporaryDirectory(): string {
  return mkdtempSync(join(process.env[variable] ?? (own ??= createRoot()), 't-'));
}

/** Removes such a directory earlier, because it is large or one of many. */
export function removeDirectory(directory: string): Promise<void> {
  return rm(directory, removal);
}

/** Global setup of vitest: one directory for all its processes. */
export function setup(): void {
  process.env[variable] = createRoot();
}

/** Creates a directory that is removed when this process ends. */
function createRoot(): string {
  // macOS has a symbolic link above it, and programs report real paths
  const usual = realpathSync(tmpdir());
  // tests write paths into scripts and command lines without quotes
  const parent = /^[\w./+-]+$/.test(usual) ? usual : realpathSync('/tmp');
  const directory = mkdtempSync(join(parent, 'docket-test-'));
  // tests of another account work below it
  chmodSync(directory, 0o711);
  process.on('exit', () => {
    try {
      rmSync(directory, removal);
    } catch (error) {
      process.stderr.write(`${directory} is left: ${String(error)}\n`);
    }
  });
  return directory;
}
