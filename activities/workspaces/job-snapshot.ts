import { link, rm } from 'node:fs/promises';
import type { Snapshot } from '../../db/for-worker/snapshots.ts';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import {
  adoptNextIndex,
  indexedTree,
  indexPath,
  nextIndexPath,
  type JobBase,
  type JobDirectory,
} from './job-directory.ts';
import { writeSnapshotCommit } from './snapshot-commit.ts';
import { removeForeignEntries } from './tree-hygiene.ts';

interface SnapshotRequest {
  job: JobDirectory;
  base: JobBase;
  sinceTree: string | null;
  signal: AbortSignal;
}

const addTimeoutMs = 10 * 60_000;
/** Largest change that is stored, as a pack. Copying more in memory would block the event loop. */
const maxPackBytes = 32 * 1024 * 1024;
/** Longest stored patch of a job against its base commit, and of one step, in bytes. */
const maxJobPatchBytes = 5 * 1024 * 1024;
const maxStepPatchBytes = 1024 * 1024;

/**
 * Tree of a working copy. If it differs from the previous tree, also a snapshot of it and the patch between the two.
 */
export type TakenSnapshot = { tree: string } & (
  | { snapshot: Snapshot; patch: string }
  | { snapshot: null; patch: null }
);

/**
 * Takes a snapshot of the job's current tree. The new index replaces the old one only after everything has been read.
 */
export async function takeSnapshot(
  git: Git,
  { job, base, sinceTree, signal }: SnapshotRequest,
): Promise<TakenSnapshot> {
  await removeForeignEntries(job.tree, signal);
  const before = await indexedTree(job);
  if (before === null) throw new GitError('corrupt', { detail: 'The index of the working copy is missing.' });
  await rm(nextIndexPath(job), { force: true });
  // A hard link preserves the index's mtime, which git uses to decide which entries to re-read
  await link(indexPath(job, before), nextIndexPath(job));
  const onTree = { gitDir: job.gitDir, workTree: job.tree, env: { GIT_INDEX_FILE: nextIndexPath(job) }, signal };
  await git.run({ ...onTree, args: ['add', '--all', '--no-warn-embedded-repo'], timeoutMs: addTimeoutMs });
  const { stdout } = await git.run({ ...onTree, args: ['write-tree'] });
  const tree = stdout.toString().trim();
  const from = sinceTree ?? base.baseTree;
  if (tree === from) {
    await adoptNextIndex(job, tree);
    return { tree, snapshot: null, patch: null };
  }
  const snapshot = await describeTree(git, { job, base, tree, signal });
  const { patch } = await patchOf(git, { job, from, tree, signal, maxBytes: maxStepPatchBytes });
  await adoptNextIndex(job, tree);
  return { tree, snapshot, patch };
}

/** Reports whether ignore rules keep a path of the working copy out of its snapshots. Tracked files are not ignored. */
export async function isIgnored(
  git: Git,
  { job, path, signal }: { job: JobDirectory; path: string; signal: AbortSignal },
): Promise<boolean> {
  const tree = await indexedTree(job);
  if (tree === null) throw new GitError('corrupt', { detail: 'The index of the working copy is missing.' });
  // the command refuses literal paths; the prefix keeps a colon from being read as a pattern
  const env = { GIT_INDEX_FILE: indexPath(job, tree), GIT_LITERAL_PATHSPECS: '0' };
  const onTree = { gitDir: job.gitDir, workTree: job.tree, env, signal };
  const args = ['check-ignore', '-z', '--stdin'];
  // 128: a path that git does not follow, which the snapshot leaves out for its own reason
  const { exitCode } = await git.run({ ...onTree, args, input: `./${path}\0`, acceptedExitCodes: [1, 128] });
  return exitCode === 0;
}

/** Describes a tree whose objects are in the job's git directory as a snapshot relative to the base commit. */
export async function describeTree(
  git: Git,
  { job, base, tree, signal }: { job: JobDirectory; base: JobBase; tree: string; signal: AbortSignal },
): Promise<Snapshot> {
  const { gitDir } = job;
  const { baseCommit } = base;
  const commit = await writeSnapshotCommit(gitDir, { tree, parent: baseCommit });
  const packed = await git.run({
    gitDir,
    args: ['pack-objects', '--revs', '--thin', '--delta-base-offset', '--stdout', '--quiet'],
    input: `${commit}\n^${baseCommit}\n`,
    maxOutputBytes: maxPackBytes,
    signal,
  });
  if (packed.truncated)
    throw new GitError('too-large', { message: `The change is larger than ${maxPackBytes / 2 ** 20} MB.` });
  const change = { job, from: baseCommit, tree, signal, maxBytes: maxJobPatchBytes, extra: ['--binary'] };
  return { tree, commit, baseCommit, pack: packed.stdout, ...(await patchOf(git, change)) };
}

interface Change {
  job: JobDirectory;
  /** A tree or commit. */
  from: string;
  tree: string;
  signal: AbortSignal;
  maxBytes: number;
  extra?: string[];
}

/** Returns a change as a patch, or as a list of files if the patch is too large. */
async function patchOf(
  git: Git,
  { job, from, tree, signal, maxBytes, extra = [] }: Change,
): Promise<{ patch: string; changedFiles: number }> {
  const onTree = { gitDir: job.gitDir, workTree: job.tree, signal };
  const options = [
    '-r',
    '-M',
    '--full-index',
    '--no-color',
    '--no-ext-diff',
    '--no-textconv',
    '--ignore-submodules=none',
  ];
  const patch = await git.run({
    ...onTree,
    args: ['diff-tree', '-p', ...extra, '--src-prefix=a/', '--dst-prefix=b/', ...options, from, tree],
    maxOutputBytes: maxBytes,
  });
  if (!patch.truncated) {
    return describePatch(patch.stdout);
  }
  const names = await git.run({
    ...onTree,
    args: ['diff-tree', '--name-status', ...options, from, tree],
    maxOutputBytes: maxBytes,
  });
  const heading = `The change is larger than ${maxBytes / 2 ** 20} MB; these files differ:\n`;
  return { patch: `${heading}${textOf(names.stdout)}`, changedFiles: countOf(names.stdout, '\n') };
}

/**
 * Returns a patch as it is stored, with its number of changed files. Works on the raw bytes, and replaces NULs in them:
 * patterns would block the event loop on a long text.
 */
export function describePatch(bytes: Buffer): { patch: string; changedFiles: number } {
  const heading = 'diff --git ';
  const isFirst = bytes.subarray(0, heading.length).equals(Buffer.from(heading));
  return { patch: textOf(bytes), changedFiles: countOf(bytes, `\n${heading}`) + (isFirst ? 1 : 0) };
}

/** Returns the bytes as text. PostgreSQL stores no NUL, so question marks replace them in `bytes`. */
function textOf(bytes: Buffer): string {
  for (let at = bytes.indexOf(0); at !== -1 && at < bytes.length; at += 1) if (bytes[at] === 0) bytes[at] = 0x3f;
  return bytes.toString();
}

function countOf(bytes: Buffer, text: string): number {
  const wanted = Buffer.from(text);
  let count = 0;
  for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, at + wanted.length)) count += 1;
  return count;
}
