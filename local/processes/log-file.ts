import { closeSync, existsSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

export interface LogFile extends Disposable {
  /** A line that cannot be written, as on a full disk, is dropped: what is logged matters more than its log. */
  write(line: string): void;
}

const longestFile = 10 * 1024 * 1024;

/** A file that lines are appended to; when it has grown long it becomes `<file>.1` and a new one begins. */
export function openLogFile(file: string): LogFile {
  let descriptor = openSync(file, 'a', 0o600);
  let size = fstatSync(descriptor).size;
  let isOpen = true;

  function beginAnew(): void {
    if (existsSync(file)) renameSync(file, `${file}.1`);
    const next = openSync(file, 'a', 0o600);
    closeSync(descriptor);
    descriptor = next;
    size = 0;
  }

  return {
    write(line) {
      if (!isOpen) return; // a process may speak until its very end
      try {
        if (size > longestFile) beginAnew();
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
