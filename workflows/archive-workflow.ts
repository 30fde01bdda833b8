import { archiveIdleJobs } from './proxies.ts';

/** Archives jobs that have been idle for `idleDays` and returns their number. Started by the daily schedule. */
export async function archiveJobs(input: { idleDays: number }): Promise<number> {
  return archiveIdleJobs(input);
}
