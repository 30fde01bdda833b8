import type { Pool } from 'pg';
import type { JobRow } from '../../../db/jobs/jobs.ts';
import { asOperator } from '../stack/operator.ts';
import { buildJob, buildProject } from './build.ts';

/** Creates a job in its own project. */
export async function buildLoneJob(pool: Pool): Promise<JobRow> {
  return buildJob(pool, await buildProject(pool));
}

/** Returns all events of a job, in order. */
export async function eventsOf(pool: Pool, jobId: string) {
  const { events } = await asOperator(pool).events(jobId, { after: 0, limit: 10_000 });
  return events;
}
