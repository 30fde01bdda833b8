import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGit, GitError, type Git } from '../../activities/clients/git.ts';
import type { CollectedJob, KeptTree } from './collect-job.ts';
import { changedBetween, type ChangedFile } from './patch-files.ts';

export interface StepDiff {
  files: ChangedFile[];
  patch: string;
  /**
   * `exact`: from the tree before the step to the one after it. `base`: some of the files are compared with the base commit
   * instead, because its objects are not at hand.
   */
  kind: 'exact' | 'base';
}

export interface StepDiffRequest {
  job: Pick<CollectedJob, 'trees'>;
  /** Null: the tree of the base commit. */
  before: string | null;
  after: string;
  /** Directories with git objects that may hold the base commit. */
  objectDirectories: readonly string[];
  signal: AbortSignal;
}

/** The files that a step changed; a tree without a snapshot is the one of the base commit. */
export function filesOfStep(
  { trees }: Pick<CollectedJob, 'trees'>,
  before: string | null,
  after: string,
): ChangedFile[] {
  const filesOf = (tree: string | null) => trees.get(tree ?? '')?.files ?? new Map();
  return before === after ? [] : changedBetween(filesOf(before), filesOf(after));
}

/**
 * The change of a step as a patch. A file that only the tree after the step has changed stands as it is in that tree's patch
 * against the base commit; for the rest git compares the trees, which needs objects of the base commit.
 */
export async function diffOfStep(request: StepDiffRequest): Promise<StepDiff> {
  const { job, before, after } = request;
  const files = filesOfStep(job, before, after);
  const [old, now] = [job.trees.get(before ?? ''), job.trees.get(after)];
  const isNew = ({ path }: ChangedFile) => old?.files.has(path) !== true;
  const fromPatch = () => [...new Set(files.map(({ path }) => now?.files.get(path)?.text ?? ''))].join('');
  if (files.every(isNew)) return { files, patch: fromPatch(), kind: 'exact' };
  const patch = await compareTrees(request, old, now);
  return patch === null ? { files, patch: fromPatch(), kind: 'base' } : { files, patch, kind: 'exact' };
}

/** Null when objects are missing. */
async function compareTrees(
  { objectDirectories, signal }: StepDiffRequest,
  before: KeptTree | undefined,
  after: KeptTree | undefined,
): Promise<string | null> {
  const directory = await mkdtemp(join(tmpdir(), 'docket-replay-'));
  try {
    const git = createGit({ home: join(directory, 'home') });
    const gitDir = join(directory, 'git');
    await makeRepository(gitDir, objectDirectories);
    for (const tree of [before, after]) if (tree !== undefined) await unpack(git, { gitDir, tree, signal });
    const base = `${(after ?? before)?.baseCommit ?? ''}^{tree}`;
    const args = ['diff-tree', '-p', '-r', '-M', '--no-color', '--no-ext-diff', '--no-textconv'];
    const { stdout } = await git.run({
      gitDir,
      args: [...args, before?.tree ?? base, after?.tree ?? base],
      maxOutputBytes: 64 * 1024 * 1024,
      signal,
    });
    return stdout.toString();
  } catch (error) {
    if (error instanceof GitError && error.kind !== 'aborted') return null;
    throw error;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function makeRepository(gitDir: string, objectDirectories: readonly string[]): Promise<void> {
  await mkdir(join(gitDir, 'objects/info'), { recursive: true });
  await mkdir(join(gitDir, 'refs'));
  await writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/none\n');
  await writeFile(join(gitDir, 'config'), '[core]\n  repositoryFormatVersion = 0\n  bare = true\n');
  await writeFile(join(gitDir, 'objects/info/alternates'), objectDirectories.map((path) => `${path}\n`).join(''));
}

async function unpack(
  git: Git,
  { gitDir, tree, signal }: { gitDir: string; tree: KeptTree; signal: AbortSignal },
): Promise<void> {
  if (tree.pack.length === 0) return;
  const args = ['index-pack', '--stdin', '--fix-thin'];
  await git.run({ gitDir, args, input: Buffer.concat(tree.pack), signal });
}
