import type { JobBranchStore } from '../../db/for-worker/job-branches.ts';
import type { JobRow } from '../../db/jobs/jobs.ts';
import type { JobAccess } from '../job/job-access.ts';
import type { JobWithProject } from '../job/granted-access.ts';

export interface PullRequestStateDeps {
  branches: Pick<JobBranchStore, 'setPullRequestState'>;
  access: Pick<JobAccess, 'forgeOf'>;
}

/** Reports whether the pull request is closed or merged, so that a further change needs a new one. */
export function isOver({ prState }: Pick<JobRow, 'prState'>): boolean {
  return prState === 'closed' || prState === 'merged';
}

/**
 * Returns the state that the pull request of a job has on its forge, and stores it: people may have ended it since the
 * turn began. Errors: ForgeError.
 */
export async function refreshState(
  { branches, access }: PullRequestStateDeps,
  { job, signal }: { job: JobWithProject; signal: AbortSignal },
): Promise<Pick<JobRow, 'prState'>> {
  const { id: jobId, prId, prState, repository } = job;
  if (prId === null || isOver(job)) return { prState };
  const forge = await access.forgeOf(job);
  const pullRequest = await forge.pullRequestState({ repository, id: prId, signal });
  await branches.setPullRequestState({ jobId, prId, ...pullRequest });
  return { prState: pullRequest.state };
}
