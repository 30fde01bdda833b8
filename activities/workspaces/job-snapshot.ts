import { link, rm, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Snapshot } from '../../db/for-worker/snapshots.ts';
import type { Git, GitCall, GitResult } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { changedLines } from './changed-lines.ts';
import {
  adoptNextIndex,
  indexedTree,
  indexPath,
  nextIndexPath,
  type JobBase,
  type JobDirectory,
} from './job-directory.ts';
import { listMarkedFiles } from './marked-files.ts';
import { removeForeignEntries } from './tree-hygiene.ts';
import { createHash, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';

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
  const commands = [{ args: ['add', '--all', '--no-warn-embedded-repo'] }, { args: ['write-tree'] }];
  const [, written] = await git.runAll({ ...onTree, commands, timeoutMs: addTimeoutMs });
  const tree = written?.stdout.toString().trim() ?? '';
  const from = sinceTree ?? base.baseTree;
  if (tree === from) {
    await adoptNextIndex(job, tree);
    return { tree, snapshot: null, patch: null };
  }
  const { snapshot, patch } = await describeChange(git, { job, base, from, tree, signal });
  await adoptNextIndex(job, tree);
  return { tree, snapshot, patch };
}

interface Described {
  job: JobDirectory;
  base: JobBase;
  tree: string;
  signal: AbortSignal;
}

/** Describes a tree whose objects are in the job's git directory as a snapshot relative to the base commit. */
export async function describeTree(git: Git, described: Described): Promise<Snapshot> {
  return (await describeChange(git, { ...described, from: null })).snapshot;
}

/** Describes a tree as a snapshot and, with `from`, as a patch of that tree. */
async function describeChange(
  git: Git,
  { job, base: { baseCommit }, from, tree, signal }: Described & { from: string | null },
): Promise<{ snapshot: Snapshot; patch: string }> {
  const { gitDir } = job;
  const commit = await writeSnapshotCommit(gitDir, { tree, parent: baseCommit });
  const onTree = { gitDir, workTree: job.tree, signal };
  const whole = { from: baseCommit, tree, maxBytes: maxJobPatchBytes, options: ['--binary'] };
  const step = from === null ? null : { from, tree, maxBytes: maxStepPatchBytes, options: [] };
  const packArgs = ['pack-objects', '--revs', '--thin', '--delta-base-offset', '--stdout', '--quiet', '--threads=1'];
  const [packed, ofJob, ofStep] = await git.runAll({
    ...onTree,
    commands: [
      { args: packArgs, maxOutputBytes: maxPackBytes },
      patchCommand(whole),
      ...(step === null ? [] : [patchCommand(step)]),
    ],
    input: `${commit}\n^${baseCommit}\n`,
  });
  if (packed === undefined || packed.truncated)
    throw new GitError('too-large', { message: `The change is larger than ${maxPackBytes / 2 ** 20} MB.` });
  const described = await patchOf(git, { onTree, change: whole, result: ofJob });
  const isWhole = ofJob !== undefined && !ofJob.truncated;
  if (!isWhole) described.patch = (await listMarkedFiles(git, { onTree, from: baseCommit, tree })) + described.patch;
  const lines = isWhole ? await changedLines(described.patch) : { additions: null, deletions: null };
  const patch = step === null ? '' : (await patchOf(git, { onTree, change: step, result: ofStep })).patch;
  return { snapshot: { tree, commit, baseCommit, pack: packed.stdout, ...described, ...lines }, patch };
}

interface Change {
  /** A tree or commit. */
  from: string;
  tree: string;
  maxBytes: number;
  options: string[];
}

const diffOptions = [
  '-r',
  '-M',
  '--full-index',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--ignore-submodules=none',
];

function patchCommand({ from, tree, maxBytes, options }: Change): { args: string[]; maxOutputBytes: number } {
  const prefixes = ['--src-prefix=a/', '--dst-prefix=b/'];
  return { args: ['diff-tree', '-p', ...options, ...prefixes, ...diffOptions, from, tree], maxOutputBytes: maxBytes };
}

/** Returns a change as a patch, or as a list of files if the patch is too large. */
async function patchOf(
  git: Git,
  { onTree, change, result }: { onTree: Omit<GitCall, 'args'>; change: Change; result: GitResult | undefined },
): Promise<{ patch: string; changedFiles: number }> {
  if (result !== undefined && !result.truncated) return describePatch(result.stdout);
  const { from, tree, maxBytes } = change;
  const args = ['diff-tree', '--name-status', ...diffOptions, from, tree];
  const names = await git.run({ ...onTree, args, maxOutputBytes: maxBytes });
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

const compress = promisify(deflate);
/** Fixed identity and date: the same tree on the same base is the same commit on every worker. */
const who = 'Docket <docket@localhost> 946684800 +0000';

/**
 * Writes the commit of a snapshot into a git directory as `git commit-tree` does, and returns its id. A separate git
 * process would cost each step about 3 ms of CPU. The write is atomic: after a kill the commit is complete or absent.
 */
async function writeSnapshotCommit(
  gitDir: string,
  { tree, parent }: { tree: string; parent: string },
): Promise<string> {
  const text = `tree ${tree}\nparent ${parent}\nauthor ${who}\ncommitter ${who}\n\nWorking copy\n`;
  const object = Buffer.from(`commit ${Buffer.byteLength(text)}\0${text}`);
  const id = createHash('sha1').update(object).digest('hex');
  const objects = join(gitDir, 'objects');
  await mkdir(join(objects, id.slice(0, 2)), { recursive: true });
  // git cleans up leftover files with this prefix
  const half = join(objects, `tmp_obj_${randomUUID()}`);
  await writeFile(half, await compress(object), { mode: 0o444 });
  await rename(half, join(objects, id.slice(0, 2), id.slice(2)));
  return id;
}
