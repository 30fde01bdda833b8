import type { Logger } from 'pino';
import type { BranchMerge, MergedBranch } from '../../activities/workspaces/merge-branch.ts';
import { GitError } from '../../activities/git/git-error.ts';
import type { GrantedAccess } from '../../activities/job/granted-access.ts';
import type { PullRequestMergeStore } from '../../db/for-worker/pull-request-merges.ts';
import { repeat } from '../../lib/repeat.ts';

export interface MergeChoresDeps {
  merges: Pick<PullRequestMergeStore, 'claimMerge' | 'merged' | 'refused'>;
  mergeBranch(merge: BranchMerge): Promise<MergedBranch>;
  granted: Pick<GrantedAccess, 'checkRepository'>;
  log: Logger;
  everyMs?: number;
}

/** Merges pull requests of the local forge that somebody asked to be merged. Runs in every worker; one of them does each. */
export function createMergeChores(deps: MergeChoresDeps): AsyncDisposable {
  const { merges, mergeBranch, granted, log, everyMs = 1_000 } = deps;
  const stopped = new AbortController();

  async function mergeNext(): Promise<void> {
    const work = await merges.claimMerge();
    if (work === null) return;
    const message = `Merge pull request #${work.number}: ${work.title}\n`;
    try {
      await granted.checkRepository(work, work.repository);
      const outcome = await mergeBranch({ ...work, message, date: work.createdAt, signal: stopped.signal });
      if (outcome.kind === 'refused') await merges.refused(work.id, outcome.problem);
      else await merges.merged(work.id, outcome.commit);
    } catch (error) {
      // what stopped with this worker is taken up by the next one
      if (stopped.signal.aborted || !(error instanceof GitError)) throw error;
      await merges.refused(work.id, `The merge failed: ${error.message}`);
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
