import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

export interface LogFile extends Disposable {
  write(line: string): void;
}

const longestFile = 10 * 1024 * 1024;

/** A file that lines are appended to; when it has grown long it becomes `<file>.1` and a new one begins. */
export function openLogFile(file: string): LogFile {
  let descriptor = openSync(file, 'a', 0o600);
  let size = fstatSync(descriptor).size;
  let isOpen = true;
  return {
    write(line) {
      if (!isOpen) return; // a process may speak until its very end
      if (size > longestFile) {
        closeSync(descriptor);
        renameSync(file, `${file}.1`);
        descriptor = openSync(file, 'a', 0o600);
        size = 0;
      }
      size += writeSync(descriptor, `${line}\n`);
    },
    [Symbol.dispose]() {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
    },
  };
}
