import { closeSync, existsSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

const maxFileBytes = 10 * 1024 * 1024;

/** Opens a file for appending lines. When it grows too long, it is renamed to `<file>.1` and a new file is started. */
export function openLogFile(file: string) {
  let descriptor = openSync(file, 'a', 0o600);
  let size = fstatSync(descriptor).size;
  let isOpen = true;

  function startNewFile(): void {
    if (existsSync(file)) renameSync(file, `${file}.1`);
    const next = openSync(file, 'a', 0o600);
    closeSync(descriptor);
    descriptor = next;
    size = 0;
  }

  return {
    /**
     * Appends a line. A line that cannot be written, for example on a full disk, is dropped: the process matters more
     * than its log.
     */
    write(line: string): void {
      if (!isOpen) return; // a process may write until it exits
      try {
        if (size > maxFileBytes) startNewFile();
        size += writeSync(descriptor, `${line}\n`);
      } catch {
        // dropped
      }
    },
    [Symbol.dispose]() {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
    },
  };
}
