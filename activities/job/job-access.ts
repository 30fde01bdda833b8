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

export interface JobAccess {
  /**
   * Returns the job while this turn is its newest and active; throws otherwise, which ends the run. `read` is the job as
   * a statement of the step has returned it; absent, it is read.
   */
  activeJob(ref: TurnRef, read?: SealedJob): Promise<JobWithProject>;
  /** The same, with the way to the job's repository under the grants of that moment. */
  activeJobWithRepository(
    ref: TurnRef,
    options: { signal: AbortSignal; read?: SealedJob },
  ): Promise<{ job: JobWithProject; repository: RepositoryAccess }>;
  /** Reports whether a message arrived during this turn that the model has not read yet. */
  hasMessages(ref: TurnRef): Promise<boolean>;
  /** Reports whether the turn may still cause effects outside. */
  isActive(ref: TurnRef): Promise<boolean>;
  repositoryOf(job: JobRow, signal: AbortSignal): Promise<RepositoryAccess>;
  forgeOf(job: JobRow): Promise<Forge>;
  /** Reads the project again, as it is now, with the check command of the job's environment if it has none. */
  projectOf(job: JobRow): Promise<ProjectRow>;
}

export function createJobAccess(deps: JobAccessDeps): JobAccess {
  const { jobs, granted } = deps;

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
    activeJob: async (ref, read) => (await find(ref, read)).job,
    async activeJobWithRepository(ref, { signal, read }) {
      const found = await find(ref, read);
      return { job: found.job, repository: await found.repository(signal) };
    },
    async hasMessages(ref) {
      const job = await jobs.get(ref.jobId);
      return job !== null && isCurrent(job, ref) && job.waitingMessages > 0;
    },
    async isActive(ref) {
      const job = await jobs.get(ref.jobId);
      return job !== null && isCurrent(job, ref);
    },
    async repositoryOf(job, signal) {
      const repository = await granted.repositoryOf(job, signal);
      if (repository === null) throw gone();
      return repository;
    },
    async forgeOf(job) {
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
