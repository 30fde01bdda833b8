import type { Logger } from 'pino';
import type { BranchMerge, MergedBranch } from '../../activities/workspaces/merge-branch.ts';
import { GitError } from '../../activities/git/git-error.ts';
import type { GrantedAccess } from '../../activities/job/granted-access.ts';
import type { PullRequestMergeStore } from '../../db/for-worker/pull-request-merges.ts';
import { repeat } from '../../lib/repeat.ts';
import type { IsDue } from '../../lib/share-looks.ts';

export interface MergeChoresDeps {
  merges: Pick<PullRequestMergeStore, 'claimMerge' | 'isRequested' | 'merged' | 'refused'>;
  mergeBranch(merge: BranchMerge): Promise<MergedBranch>;
  granted: Pick<GrantedAccess, 'checkRepository'>;
  log: Logger;
  /** Reports whether a merge is requested. */
  isDue?: IsDue;
  everyMs?: number;
}

/** Merges pull requests of the local forge on request. Runs in every worker; each merge is done by one of them. */
export function createMergeChores(deps: MergeChoresDeps): AsyncDisposable {
  const { merges, mergeBranch, granted, log, everyMs = 1_000 } = deps;
  const stopped = new AbortController();

  async function mergeNext(): Promise<void> {
    const work = await merges.claimMerge();
    if (work === null) return;
    const message = `Merge pull request #${work.number}: ${work.title}\n`;
    const checkAccess = () => granted.checkRepository(work, work.repository);
    try {
      await checkAccess();
      const beforePush = async () => {
        // another worker may have ended the merge meanwhile, and a person closed the pull request
        if (!(await merges.isRequested(work.id))) throw new Error('The merge is no longer requested.');
        await checkAccess();
      };
      const outcome = await mergeBranch({ ...work, message, date: work.createdAt, beforePush, signal: stopped.signal });
      if (outcome.kind === 'refused') await merges.refused(work.id, outcome.problem);
      else await merges.merged(work.id, outcome.commit);
    } catch (error) {
      // a merge that stopped with this worker is resumed by the next one
      if (stopped.signal.aborted || !(error instanceof GitError)) throw error;
      await merges.refused(work.id, `The merge failed: ${error.message}`);
    }
  }

  const chore = repeat({ name: 'merges', everyMs, isDue: deps.isDue, work: mergeNext, log });
  return {
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await chore[Symbol.asyncDispose]();
    },
  };
}
