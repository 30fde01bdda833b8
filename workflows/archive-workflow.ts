import { archiveIdleJobs } from './proxies.ts';

/** What the daily schedule runs: archives the jobs that nobody touched for so many days. Answers how many. */
export async function archiveJobs(input: { idleDays: number }): Promise<number> {
  return archiveIdleJobs(input);
}
