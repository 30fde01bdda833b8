import type { Logger } from 'pino';
import type { WorkerClients } from '../clients.ts';
import { GitError } from '../../activities/git/git-error.ts';
import { ForgeError } from '../../activities/forges/forge.ts';
import type { MergedBranch, Merging } from '../../activities/forges/merge-pull-request.ts';
import type { GrantedAccess } from '../../activities/job/granted-access.ts';
import type {
  CheckResult,
  CheckWork,
  MergeWork,
  PullRequestMergeStore,
} from '../../db/for-worker/pull-request-merges.ts';
import { repeatAll } from '../../lib/repeat.ts';
import type { IsDue } from '../../lib/due-poll.ts';

export interface MergeChoresDeps extends Pick<WorkerClients, 'mergeBranch' | 'checkMerge' | 'deleteBranch'> {
  merges: PullRequestMergeStore;
  granted: Pick<GrantedAccess, 'checkRepository' | 'forgeOf' | 'mergeProblem' | 'repositoryOf'>;
  log: Logger;
  /** Reports whether a merge is requested. */
  isDue?: IsDue;
  /** Reports whether a check is requested. */
  isCheckDue?: IsDue;
  everyMs?: number;
}

/** Organizations whose merges, and whose checks, a worker does at once: a slow forge of one holds up no other. */
const organizationsAtOnce = 4;

/**
 * Merges pull requests on request, and checks whether they can be merged: those of the local forge with git, others with
 * the credential of their job. Runs in every worker; each merge and check is done by one of them.
 */
export function createMergeChores(deps: MergeChoresDeps): AsyncDisposable {
  const { merges, mergeBranch, checkMerge, deleteBranch, granted, log, everyMs = 1_000 } = deps;
  const stopped = new AbortController();
  const { signal } = stopped;

  const checkAccess = (work: CheckWork) => granted.checkRepository(work, work.repository);

  async function checkMayMerge(work: MergeWork): Promise<void> {
    await checkAccess(work);
    const problem = work.forgeId === null ? null : await granted.mergeProblem(work.job);
    if (problem !== null) throw new ForgeError('rejected', problem);
  }

  async function mergeNext(): Promise<void> {
    const work = await merges.claimMerge();
    if (work === null) return;
    const { id } = work;
    try {
      await checkMayMerge(work);
      const outcome = await merge(work);
      if (outcome.kind === 'refused') {
        await merges.refused(id, outcome.problem);
        // otherwise the next check asks the forge again
        if (work.forgeId === null || outcome.cause !== null) await merges.checked(id, outcome);
        return;
      }
      await merges.merged(id, outcome.commit);
      if (work.deletesBranch) await deleteMerged(work);
    } catch (error) {
      // a merge that stopped with this worker is resumed by the next one
      if (signal.aborted || !isOfServer(error)) throw error;
      await merges.refused(id, `The merge failed: ${error.message}`);
    }
  }

  async function merge(work: MergeWork): Promise<MergedBranch> {
    const { id, repository, number, title, method, headCommit, forgeId } = work;
    const beforeEffect = async () => {
      // another worker may have ended the merge meanwhile, and a person closed the pull request
      if (!(await merges.isRequested(id))) throw new Error('The merge is no longer requested.');
      await checkMayMerge(work);
    };
    if (forgeId !== null)
      return (await mergingOf(work)).merge({ id: forgeId, repository, method, headCommit, beforeEffect, signal });
    const message = method === 'squash' ? `${title} (#${number})\n` : `Merge pull request #${number}: ${title}\n`;
    return mergeBranch({ ...work, message, date: work.createdAt, beforePush: beforeEffect, signal });
  }

  async function deleteMerged({ job, repository, head, headCommit, forgeId }: MergeWork): Promise<void> {
    const access = forgeId === null ? null : await granted.repositoryOf(job, signal);
    await deleteBranch({ repository, head, headCommit, credential: access?.credential ?? null, signal });
  }

  async function checkNext(): Promise<void> {
    const work = await merges.claimCheck();
    if (work === null) return;
    try {
      await checkAccess(work);
      await merges.checked(work.id, await check(work));
    } catch (error) {
      if (signal.aborted || !isOfServer(error)) throw error;
      await merges.checked(work.id, { problem: `The check failed: ${error.message}`, conflicts: [] });
    }
  }

  async function check(work: CheckWork): Promise<CheckResult> {
    const { repository, headCommit, forgeId } = work;
    if (forgeId === null) return (await checkMerge({ ...work, signal })) ?? { problem: null, conflicts: [] };
    const merging = await mergingOf(work);
    const { obstacle, ...pullRequest } = await merging.check({ id: forgeId, repository, headCommit, signal });
    if (obstacle !== null) return { ...obstacle, conflicts: [], pullRequest };
    const problem = await granted.mergeProblem(work.job);
    return { problem, cause: problem === null ? null : 'access', conflicts: [], pullRequest };
  }

  async function mergingOf({ job }: CheckWork): Promise<Merging> {
    const forge = await granted.forgeOf(job);
    if (forge?.merging !== undefined) return forge.merging;
    throw new ForgeError('not-found', 'the project no longer uses the forge of this pull request.');
  }

  const pair = [
    { name: 'merges', everyMs, isDue: deps.isDue, work: mergeNext },
    { name: 'merge-checks', everyMs, isDue: deps.isCheckDue, work: checkNext },
  ];
  const chores = repeatAll(log, Array.from({ length: organizationsAtOnce }, () => pair).flat());
  return {
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await chores[Symbol.asyncDispose]();
    },
  };
}

/** Reports whether git or a forge failed; the messages of both are fixed sentences. */
function isOfServer(error: unknown): error is GitError | ForgeError {
  return error instanceof GitError || error instanceof ForgeError;
}
