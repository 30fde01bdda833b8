import type { Logger } from 'pino';
import type { BranchMerge, MergedBranch } from '../activities/clients/merge-branch.ts';
import { GitError } from '../activities/clients/git-error.ts';
import type { PullRequestMergeStore } from '../db/worker/pull-request-merges.ts';
import { repeat } from './repeat.ts';

export interface MergeChoresDeps {
  merges: Pick<PullRequestMergeStore, 'claimMerge' | 'merged' | 'refused'>;
  mergeBranch(merge: BranchMerge): Promise<MergedBranch>;
  /** Why this worker may not use a repository; null when it may. */
  problemWithRepository(repository: string): string | null;
  log: Logger;
  everyMs?: number;
}

/** Merges pull requests of the local forge that somebody asked to be merged. Runs in every worker; one of them does each. */
export function createMergeChores(deps: MergeChoresDeps): AsyncDisposable {
  const { merges, mergeBranch, problemWithRepository, log, everyMs = 1_000 } = deps;
  const stopped = new AbortController();

  async function mergeNext(): Promise<void> {
    const work = await merges.claimMerge();
    if (work === null) return;
    const problem = problemWithRepository(work.repository);
    if (problem !== null) return merges.refused(work.id, problem);
    const message = `Merge pull request #${work.number}: ${work.title}\n`;
    try {
      const outcome = await mergeBranch({ ...work, message, date: work.createdAt, signal: stopped.signal });
      if (outcome.kind === 'refused') await merges.refused(work.id, outcome.problem);
      else await merges.merged(work.id, outcome.commit);
    } catch (error) {
      // what stopped with this worker is taken up by the next one
      if (stopped.signal.aborted || !(error instanceof GitError)) throw error;
      await merges.refused(work.id, `The merge could not be made: ${error.message}`);
    }
  }

  const chore = repeat({ name: 'merges', everyMs, work: mergeNext, log });
  return {
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await chore[Symbol.asyncDispose]();
    },
  };
}
