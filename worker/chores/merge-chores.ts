import type { Logger } from 'pino';
import type { WorkerClients } from '../clients.ts';
import { GitError } from '../../activities/git/git-error.ts';
import type { GrantedAccess } from '../../activities/job/granted-access.ts';
import type { PullRequestMergeStore } from '../../db/for-worker/pull-request-merges.ts';
import { repeat } from '../../lib/repeat.ts';
import type { IsDue } from '../../lib/share-looks.ts';

export interface MergeChoresDeps extends Pick<WorkerClients, 'mergeBranch' | 'checkMerge' | 'deleteBranch'> {
  merges: PullRequestMergeStore;
  granted: Pick<GrantedAccess, 'checkRepository'>;
  log: Logger;
  /** Reports whether a merge is requested. */
  isDue?: IsDue;
  /** Reports whether a check is requested. */
  isCheckDue?: IsDue;
  everyMs?: number;
}

/**
 * Merges pull requests of the local forge on request, and checks whether they can be merged. Runs in every worker; each
 * merge and check is done by one of them.
 */
export function createMergeChores(deps: MergeChoresDeps): AsyncDisposable {
  const { merges, mergeBranch, checkMerge, deleteBranch, granted, log, everyMs = 1_000 } = deps;
  const stopped = new AbortController();

  async function mergeNext(): Promise<void> {
    const work = await merges.claimMerge();
    if (work === null) return;
    const { signal } = stopped;
    const { id, number, title, method } = work;
    const message = method === 'squash' ? `${title} (#${number})\n` : `Merge pull request #${number}: ${title}\n`;
    const checkAccess = () => granted.checkRepository(work, work.repository);
    try {
      await checkAccess();
      const beforePush = async () => {
        // another worker may have ended the merge meanwhile, and a person closed the pull request
        if (!(await merges.isRequested(id))) throw new Error('The merge is no longer requested.');
        await checkAccess();
      };
      const outcome = await mergeBranch({ ...work, message, date: work.createdAt, beforePush, signal });
      if (outcome.kind === 'refused') {
        await merges.refused(id, outcome.problem);
        await merges.checked(id, outcome);
        return;
      }
      await merges.merged(id, outcome.commit);
      if (work.deletesBranch) await deleteBranch({ ...work, signal });
    } catch (error) {
      // a merge that stopped with this worker is resumed by the next one
      if (signal.aborted || !(error instanceof GitError)) throw error;
      await merges.refused(id, `The merge failed: ${error.message}`);
    }
  }

  async function checkNext(): Promise<void> {
    const work = await merges.claimCheck();
    if (work === null) return;
    const { signal } = stopped;
    try {
      await granted.checkRepository(work, work.repository);
      const { problem, conflicts } = (await checkMerge({ ...work, signal })) ?? { problem: null, conflicts: [] };
      await merges.checked(work.id, { problem, conflicts });
    } catch (error) {
      if (signal.aborted || !(error instanceof GitError)) throw error;
      await merges.checked(work.id, { problem: `The check failed: ${error.message}`, conflicts: [] });
    }
  }

  const chores = [
    repeat({ name: 'merges', everyMs, isDue: deps.isDue, work: mergeNext, log }),
    repeat({ name: 'merge-checks', everyMs, isDue: deps.isCheckDue, work: checkNext, log }),
  ];
  return {
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await Promise.all(chores.map((chore) => chore[Symbol.asyncDispose]()));
    },
  };
}
