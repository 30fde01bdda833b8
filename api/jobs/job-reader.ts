import type { Owner } from '../../db/caller.ts';
import type { JobRow, JobStore } from '../../db/jobs/jobs.ts';
import { jobNotFound } from '../http/errors.ts';

export type ReadJob = (owner: Owner, projectId: string, jobId: string) => Promise<JobRow>;

/** Reads a job for an organization. Throws the same 404 for an unknown job, a foreign one, and one of another project. */
export function createJobReader({ jobs }: { jobs: Pick<JobStore, 'find'> }): ReadJob {
  return async function readJob(owner, projectId, jobId) {
    const row = await jobs.find(owner, projectId, jobId);
    if (row === null) throw jobNotFound();
    return row;
  };
}
