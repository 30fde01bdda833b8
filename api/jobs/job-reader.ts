import type { Owner } from '../../db/caller.ts';
import type { JobRow, JobStore } from '../../db/jobs/jobs.ts';
import { jobNotFound } from '../http/errors.ts';

export type ReadJob = (owner: Owner, projectId: string, jobId: string) => Promise<JobRow>;

/** Creates a reader of jobs. It throws one 404 for an unknown job and for one of another organization or project. */
export function createJobReader({ jobs }: { jobs: Pick<JobStore, 'find'> }): ReadJob {
  return async function readJob(owner, projectId, jobId) {
    const row = await jobs.find(owner, projectId, jobId);
    if (row === null) throw jobNotFound();
    return row;
  };
}
