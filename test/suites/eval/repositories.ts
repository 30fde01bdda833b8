import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../../../cli/command-error.ts';
import type { Task } from './tasks.ts';
import { createTrees, type Trees } from './trees.ts';

/** A task in the bare repository that Docket works on. */
export interface PreparedTask {
  /** Path of the bare repository. */
  repository: string;
  trees: Trees;
  /** Branch that jobs start from: one commit without history, so that no fix can be found in it. */
  ref: string;
  /** Trees of that commit, and of the pinned one. */
  base: string;
  pinned: string;
}

export interface Repositories {
  prepare(task: Task): Promise<PreparedTask>;
}

/**
 * Creates the bare repositories of tasks in a folder. `source` is a URL in which {owner} and {name} are filled in. A fetch
 * that fails is repeated after each pause, except of a repository for which that did not help before.
 */
export function createRepositories({
  folder,
  source,
  pausesMs = [2_000, 10_000],
}: {
  folder: string;
  source: string;
  pausesMs?: number[];
}): Repositories {
  const queues = new Map<string, Promise<unknown>>();
  const unreachable = new Set<string>();

  async function fetchCommit({ git }: Trees, url: string, commit: string): Promise<void> {
    const fetchOnce = () => git('fetch', '--quiet', '--depth=1', '--no-tags', url, commit);
    let fetched = fetchOnce();
    for (const pauseMs of unreachable.has(url) ? [] : pausesMs)
      fetched = fetched.catch(() => sleep(pauseMs).then(fetchOnce));
    await fetched.catch((cause: unknown) => {
      unreachable.add(url);
      throw new CommandError(`${url} cannot be fetched at ${commit}. Is --source right?`, { cause });
    });
    unreachable.delete(url);
  }

  async function prepareNow(task: Task): Promise<PreparedTask> {
    const [owner = '', name = ''] = task.repository.split('/');
    const repository = join(folder, `eval-${owner}-${name}.git`);
    const trees = createTrees(repository);
    const { git } = trees;
    await mkdir(repository, { recursive: true });
    await git('init', '--quiet', '--bare', '--template=', '--initial-branch=eval');
    const isPresent = await git('cat-file', '-e', `${task.commit}^{tree}`).then(
      () => true,
      () => false,
    );
    if (!isPresent) {
      const url = source.replaceAll('{owner}', owner).replaceAll('{name}', name);
      await fetchCommit(trees, url, task.commit);
      // no branch leads to the commit, so its missing parents do not matter; others may fetch without caring for them
      await rm(join(repository, 'shallow'), { force: true });
    }
    const pinned = await git('rev-parse', `${task.commit}^{tree}`);
    const base = await trees.withEdits(pinned, task.seed).catch((cause: unknown) => {
      throw cause instanceof CommandError ? new CommandError(`The task ${task.id}: ${cause.message}`) : cause;
    });
    // the same commit every time, because dates and names are fixed
    const commit = await git('commit-tree', base, '-m', `Begin ${task.id}`);
    await git('update-ref', `refs/heads/eval/${task.id}`, commit);
    return { repository, trees, ref: `eval/${task.id}`, base, pinned };
  }

  return {
    prepare(task) {
      const prepared = (queues.get(task.repository) ?? Promise.resolve()).then(() => prepareNow(task));
      queues.set(
        task.repository,
        prepared.catch(() => undefined),
      );
      return prepared;
    },
  };
}
