import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { mendTree } from '../sandbox/tree.ts';
import { indexedTree, indexPath, type JobDirectory } from './job-directory.ts';
import type { AddedPaths, WorkspaceLayer } from './open-workspace.ts';
import { emptyTree } from './remove-tree.ts';
import { removeForeignEntries } from './tree-hygiene.ts';

/** Largest number of files and folders outside `.gitignore` that setup may add. */
const maxExcluded = 1_000;

const layerFile = (job: JobDirectory) => join(job.root, 'layer');
/** Returns the file with the ignore rules for what setup added. */
export function excludeFile(job: JobDirectory): string {
  return join(job.gitDir, 'info', 'exclude');
}

/** Returns the key of the layer that a working copy holds completely; null for none. */
export async function currentLayer(job: JobDirectory): Promise<string | null> {
  return readFile(layerFile(job), 'utf8').catch(() => null);
}

/** Marks a working copy as one that holds no layer. */
export async function dropLayer(job: JobDirectory): Promise<void> {
  await rm(layerFile(job), { force: true });
  await rm(excludeFile(job), { force: true });
}

/** Opens the layer of a working copy that is at its snapshot. */
export async function openLayer(
  git: Git,
  { job, layer, signal }: { job: JobDirectory; layer: string | null; signal: AbortSignal },
): Promise<WorkspaceLayer> {
  const isFilled = (await currentLayer(job)) === layer;
  await mkdir(job.home, { recursive: true, mode: 0o700 });
  if (!isFilled) await emptyHome(job);
  return {
    home: job.home,
    isFilled,
    keepLayer: (excluded) => keepLayer(job, layer ?? '', excluded),
    added: () => addedPaths(git, { job, signal }),
  };
}

async function emptyHome({ home }: JobDirectory): Promise<void> {
  await mkdir(home, { recursive: true });
  await mendTree(home);
  await emptyTree(home);
  await chmod(home, 0o700);
}

async function keepLayer(job: JobDirectory, key: string, excluded: readonly string[]): Promise<void> {
  const patterns = excluded.map((path) => `/${path.replaceAll(/[\\*?[\]#! ]/g, '\\$&')}\n`);
  await mkdir(join(job.gitDir, 'info'), { recursive: true });
  await writeFile(excludeFile(job), Buffer.from(patterns.join(''), 'latin1'));
  await writeFile(`${layerFile(job)}.next`, key);
  await rename(`${layerFile(job)}.next`, layerFile(job));
}

/** Returns the paths that are in a working copy and not in its tree, folders as a whole. */
async function addedPaths(git: Git, { job, signal }: { job: JobDirectory; signal: AbortSignal }): Promise<AddedPaths> {
  await removeForeignEntries(job.tree, signal);
  const tree = await indexedTree(job);
  if (tree === null) throw new GitError('corrupt', { detail: 'The index of the working copy is missing.' });
  const list = async (rules: string[]) => {
    const args = ['ls-files', '--others', '--directory', '--no-empty-directory', ...rules, '-z'];
    const env = { GIT_INDEX_FILE: indexPath(job, tree) };
    const { stdout } = await git.run({ gitDir: job.gitDir, workTree: job.tree, args, env, signal });
    // an ignore rule cannot name a path with a line break, so such a path is not kept
    return stdout
      .toString('latin1')
      .split('\0')
      .filter((path) => path !== '' && !/[\r\n]/.test(path));
  };
  const [paths, excluded] = [await list([]), await list(['--exclude-standard'])];
  if (excluded.length <= maxExcluded) return { paths, excluded };
  const message = `Setup added more than ${maxExcluded} files that .gitignore does not name. Add their folders to it.`;
  throw new GitError('too-large', { message });
}
