import { ApplicationFailure } from '@temporalio/activity';
import type { JobRow } from '../../db/jobs/jobs.ts';
import type { WorkerJobStore } from '../../db/for-worker/jobs.ts';
import type { SealedJob } from '../../db/for-worker/projects/projects.ts';
import type { ProjectRow } from '../../db/organizations/projects.ts';
import type { TurnRef } from '../../workflows/contract/job.ts';
import { FailureType } from '../../workflows/contract/failures.ts';
import type { Forge } from '../forges/forge.ts';
import type { RepositoryAccess } from '../git/remote.ts';
import type { GrantedAccess, GrantedJob, JobWithProject } from './granted-access.ts';
import { turnEnded } from './turn-watch.ts';

export interface JobAccessDeps {
  jobs: Pick<WorkerJobStore, 'get'>;
  granted: Pick<GrantedAccess, 'forgeOf' | 'repositoryOf' | 'jobOf' | 'openJob'>;
}

export type JobAccess = ReturnType<typeof createJobAccess>;

export function createJobAccess(deps: JobAccessDeps) {
  const { jobs, granted } = deps;

  /** Reads the project again, as it is now, with the check command of the job's environment if it has none. */
  async function projectOf(job: JobRow): Promise<ProjectRow> {
    const found = await granted.jobOf(job.id);
    if (found === null) throw gone();
    return found.job.project;
  }

  async function find(ref: TurnRef, read?: SealedJob): Promise<GrantedJob> {
    const found = read === undefined ? await granted.jobOf(ref.jobId) : granted.openJob(read);
    if (found === null) throw ApplicationFailure.nonRetryable('The job does not exist.', FailureType.Internal);
    if (!isCurrent(found.job, ref)) throw turnEnded();
    found.learnSecrets();
    return found;
  }

  return {
    /**
     * Returns the job while this turn is its newest and active; throws otherwise, which ends the run. `read` is the job as
     * a statement of the step has returned it; absent, it is read.
     */
    activeJob: async (ref: TurnRef, read?: SealedJob): Promise<JobWithProject> => (await find(ref, read)).job,
    /** The same, with the way to the job's repository under the grants of that moment. */
    async activeJobWithRepository(
      ref: TurnRef,
      { signal, read }: { signal: AbortSignal; read?: SealedJob },
    ): Promise<{ job: JobWithProject; repository: RepositoryAccess }> {
      const found = await find(ref, read);
      return { job: found.job, repository: await found.repository(signal) };
    },
    /** Reports whether a message arrived during this turn that the model has not read yet. */
    async hasMessages(ref: TurnRef): Promise<boolean> {
      const job = await jobs.get(ref.jobId);
      return job !== null && isCurrent(job, ref) && job.waitingMessages > 0;
    },
    /** Reports whether the turn may still cause effects outside. */
    async isActive(ref: TurnRef): Promise<boolean> {
      const job = await jobs.get(ref.jobId);
      return job !== null && isCurrent(job, ref);
    },
    async repositoryOf(job: JobRow, signal: AbortSignal): Promise<RepositoryAccess> {
      const repository = await granted.repositoryOf(job, signal);
      if (repository === null) throw gone();
      return repository;
    },
    async forgeOf(job: JobRow): Promise<Forge> {
      const forge = await granted.forgeOf(job);
      if (forge === null) throw gone();
      return forge;
    },
    projectOf,
  };
}

function gone(): ApplicationFailure {
  return ApplicationFailure.nonRetryable('The project was deleted.', FailureType.Internal);
}

function isCurrent(job: JobRow, ref: TurnRef): boolean {
  return job.status === 'active' && job.turn === ref.turn && job.phase !== 'waiting';
}

/** Returns the branch and commit the job works on, as stored by `prepare`. */
export function baseOf({ baseBranch, baseCommit }: JobRow): { branch: string; commit: string } {
  if (baseBranch !== null && baseCommit !== null) return { branch: baseBranch, commit: baseCommit };
  throw ApplicationFailure.nonRetryable('The job has no base commit.', FailureType.Internal);
}
