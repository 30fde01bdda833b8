import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { removeJobFolder } from './job-disks.ts';
import { pathInTrash } from './remove-tree.ts';
import { codeOf } from '../../lib/error-code.ts';

/** Paths of a job's files: the tree an agent works in, and the git directory outside of it. */
export interface JobDirectory {
  root: string;
  tree: string;
  /** HOME of commands; keeps what they write there. */
  home: string;
  gitDir: string;
  lock: string;
}

export interface JobBase {
  organizationId: string;
  repository: string;
  baseCommit: string;
  baseTree: string;
}

const baseSchema = z.object({
  organizationId: z.string(),
  repository: z.string(),
  baseCommit: z.string(),
  baseTree: z.string(),
});
const indexPrefix = 'index.';
const nextIndex = 'next-index';

/** Overrides all attributes of a repository, so that files are stored and compared byte for byte. */
const attributes = '* -text !eol !diff !filter !ident !working-tree-encoding !merge\n';
const config = '[core]\n  repositoryFormatVersion = 0\n  bare = false\n';

/** Returns the paths of a job. A job id that is not a plain name is replaced by its digest. */
export function jobDirectoryOf(directory: string, jobId: string): JobDirectory {
  const isPlain = /^[A-Za-z0-9_-]{1,100}$/.test(jobId);
  const name = isPlain ? jobId : `${createHash('sha256').update(jobId).digest('hex')}.id`;
  return namedJobDirectory(directory, name);
}

/** Returns the paths of a job by the name of its folder. */
export function namedJobDirectory(directory: string, name: string): JobDirectory {
  const root = join(directory, 'jobs', name);
  return {
    root,
    tree: join(root, 'tree'),
    home: join(root, 'home'),
    gitDir: join(root, 'git'),
    lock: join(directory, 'locks', `job-${name}.lock`),
  };
}

/** Creates an empty job directory that borrows objects from the mirror. */
export async function createJobDirectory(job: JobDirectory, { mirror }: { mirror: string }): Promise<void> {
  await mkdir(job.tree, { recursive: true, mode: 0o700 });
  await mkdir(join(job.gitDir, 'objects', 'info'), { recursive: true });
  await mkdir(join(job.gitDir, 'refs'), { recursive: true });
  await mkdir(join(job.gitDir, 'info'), { recursive: true });
  await writeFile(join(job.gitDir, 'HEAD'), 'ref: refs/heads/docket\n');
  await writeFile(join(job.gitDir, 'config'), config);
  await writeFile(join(job.gitDir, 'info', 'attributes'), attributes);
  await writeFile(join(job.gitDir, 'objects', 'info', 'alternates'), `${join(mirror, 'objects')}\n`);
}

/** Reads the base file, synchronously because each step does: a promise costs ten times the CPU. */
export function readBase(job: Pick<JobDirectory, 'root'>): JobBase | null {
  try {
    return baseSchema.parse(JSON.parse(readFileSync(join(job.root, 'base.json'), 'utf8')));
  } catch {
    return null;
  }
}

/** Writes the base file. It is written last: a directory without it is incomplete. */
export async function writeBase(job: JobDirectory, base: JobBase): Promise<void> {
  const half = join(job.root, `base.${randomUUID()}`);
  await writeFile(half, JSON.stringify(base));
  await rename(half, join(job.root, 'base.json'));
}

/**
 * Returns the tree whose index is in the directory. The index is named after its tree, so that a kill between two
 * writes never leaves an index that is mistaken for another.
 */
export async function indexedTree(job: JobDirectory): Promise<string | null> {
  const names = await readdir(job.gitDir);
  return names.find((name) => /^index\.[0-9a-f]{40}$/.test(name))?.slice(indexPrefix.length) ?? null;
}

export function indexPath(job: JobDirectory, tree: string): string {
  return join(job.gitDir, `${indexPrefix}${tree}`);
}

export function nextIndexPath(job: JobDirectory): string {
  return join(job.gitDir, nextIndex);
}

/** Promotes the next index and deletes all others. */
export async function adoptNextIndex(job: JobDirectory, tree: string): Promise<void> {
  await rename(nextIndexPath(job), indexPath(job, tree));
  for (const name of await readdir(job.gitDir)) {
    if (name.startsWith(indexPrefix) && name !== `${indexPrefix}${tree}`)
      await rm(join(job.gitDir, name), { force: true });
  }
}

/** Reports whether a git process may still be writing here, or was killed while writing. */
export async function hasLeftovers(job: JobDirectory): Promise<boolean> {
  return (await readdir(job.gitDir)).some((name) => name.endsWith('.lock'));
}

/** Moves a job's directory to the trash before deleting it, so that no process sees it half deleted. */
export async function discardJobDirectory(directory: string, job: JobDirectory): Promise<void> {
  const removed = await pathInTrash(directory);
  try {
    await rename(job.root, removed);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  await removeJobFolder(removed);
}
