import { ApplicationFailure } from '@temporalio/activity';
import type { JobRow } from '../db/jobs.ts';
import type { WorkerJobStore } from '../db/worker/jobs.ts';
import type { ProjectRow, ProjectStore } from '../db/projects.ts';
import type { TurnRef } from '../workflows/contract/job.ts';
import { FailureType } from '../workflows/contract/failures.ts';
import { sshPlaceOf } from '../workflows/contract/ssh-keys.ts';
import type { Forge } from './clients/forge.ts';
import type { RepositoryAccess } from './clients/workspaces.ts';
import type { ProjectForges } from './project-forges.ts';
import { turnEnded } from './turn-watch.ts';

export interface JobAccessDeps {
  jobs: Pick<WorkerJobStore, 'get'>;
  projects: Pick<ProjectStore, 'get'>;
  projectForges: ProjectForges;
  /** Why this worker may not use a repository; null when it may. */
  problemWithRepository(repository: string): string | null;
}

export interface JobAccess {
  /** The job, while this turn is its newest and has not ended; everything else ends the run. */
  activeJob(ref: TurnRef): Promise<JobRow>;
  /** Whether somebody said something during this turn that the model has not read yet. */
  hasMessages(ref: TurnRef): Promise<boolean>;
  /** Whether the turn may still act on the outside. */
  isActive(ref: TurnRef): Promise<boolean>;
  repositoryOf(job: JobRow, signal: AbortSignal): Promise<RepositoryAccess>;
  forgeOf(job: JobRow): Promise<Forge>;
  projectOf(job: JobRow): Promise<ProjectRow>;
}

export function createJobAccess(deps: JobAccessDeps): JobAccess {
  const { jobs, projects, projectForges, problemWithRepository } = deps;

  async function forgeOf(job: JobRow): Promise<Forge> {
    const forge = await projectForges.forgeOf(job.projectId, job.id);
    if (forge === null) throw gone();
    return forge;
  }

  async function projectOf(job: JobRow): Promise<ProjectRow> {
    const project = await projects.get(job.projectId);
    if (project === null) throw gone();
    return project;
  }

  return {
    async activeJob(ref) {
      const job = await jobs.get(ref.jobId);
      if (job === null) throw ApplicationFailure.nonRetryable('The job does not exist.', FailureType.Internal);
      if (!isCurrent(job, ref)) {
        throw turnEnded();
      }
      await projectForges.learnSecrets(job.projectId);
      return job;
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
      const problem = problemWithRepository(job.repository);
      if (problem !== null) throw ApplicationFailure.nonRetryable(problem, FailureType.RepositoryUnreachable);
      const forge = await forgeOf(job);
      const { repository } = job;
      const isBySsh = sshPlaceOf(repository) !== null;
      const credential = isBySsh ? await projectForges.sshOf(job.projectId) : forge.credential(repository);
      return { repository, credential, signal };
    },
    forgeOf,
    projectOf,
  };
}

function gone(): ApplicationFailure {
  return ApplicationFailure.nonRetryable('The project is gone.', FailureType.Internal);
}

function isCurrent(job: JobRow, ref: TurnRef): boolean {
  return job.status === 'active' && job.turn === ref.turn;
}

/** The branch and commit the job works on; `prepare` has stored them. */
export function baseOf({ baseBranch, baseCommit }: JobRow): { branch: string; commit: string } {
  if (baseBranch !== null && baseCommit !== null) return { branch: baseBranch, commit: baseCommit };
  throw ApplicationFailure.nonRetryable('The job has no base commit.', FailureType.Internal);
}
