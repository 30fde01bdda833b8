import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobDirectory } from './job-directory.ts';

// Synchronous, because each step does both: a promise costs ten times the CPU of a tiny file.

interface LeftTree {
  /** The process that leaves the tree. */
  processId: string;
  tree: string;
}

/** Records which tree a job's files are equal to. Does nothing if that fails: the next open then verifies them. */
export function recordLeftTree(job: JobDirectory, { processId, tree }: LeftTree): void {
  try {
    writeFileSync(pathOf(job), `${processId} ${tree}`);
  } catch {
    // a full disk, or the directory is gone
  }
}

/**
 * Takes the record, so that it counts once. Returns the tree if `leaver` left it and nothing has opened the files since;
 * otherwise null, also after a crash of the machine.
 */
export function takeLeftTree(job: JobDirectory, processId: string): string | null {
  const record = readRecord(job);
  rmSync(pathOf(job), { force: true });
  const [recordedBy, tree = null] = record.split(' ');
  return recordedBy === processId ? tree : null;
}

function readRecord(job: JobDirectory): string {
  try {
    return readFileSync(pathOf(job), 'utf8');
  } catch {
    return '';
  }
}

function pathOf(job: JobDirectory): string {
  return join(job.root, 'left-tree');
}
