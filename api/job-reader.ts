import { canBeId } from '../db/ids.ts';
import type { JobRow, JobStore } from '../db/jobs.ts';
import { jobNotFound } from './errors.ts';
import type { ApiCaller } from './api-caller.ts';

export type ReadJob = (caller: ApiCaller, projectId: string, jobId: string) => Promise<JobRow>;

/** Reads a job for a key. Throws the same 404 for an unknown job, a foreign one, and one of another project. */
export function createJobReader({ jobs }: { jobs: Pick<JobStore, 'find'> }): ReadJob {
  return async function readJob(caller, projectId, jobId) {
    if (!canBeId(projectId) || !canBeId(jobId)) throw jobNotFound();
    const row = await jobs.find(projectId, jobId);
    if (row === null || row.organizationId !== caller.organizationId) throw jobNotFound();
    return row;
  };
}
