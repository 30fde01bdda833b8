import type { ListedJob } from '../http/types.ts';
import type { JobFilters } from './filters.ts';

export interface JobListPage {
  jobs: ListedJob[];
  nextCursor: string | null;
}

function fits(job: ListedJob, { status, project }: JobFilters): boolean {
  return (status === undefined || job.status === status) && (project === undefined || job.projectId === project);
}

/**
 * Updates changed jobs in place, inserts those that now match the filters, and removes those that no longer do. Jobs
 * older than all that are loaded come with their own page.
 */
export function withChanges(pages: JobListPage[], changes: ListedJob[], filters: JobFilters): JobListPage[] {
  const changed = new Map(changes.map((job) => [job.id, job]));
  const known = new Set<string>();
  const updated = pages.map((page) => ({
    ...page,
    jobs: page.jobs.flatMap((job) => {
      known.add(job.id);
      const now = changed.get(job.id) ?? job;
      return fits(now, filters) ? [now] : [];
    }),
  }));
  const fresh = [...changed.values()].filter((job) => !known.has(job.id) && fits(job, filters));
  for (const job of fresh) pageFor(updated, job)?.jobs.push(job);
  for (const { jobs } of fresh.length === 0 ? [] : updated) {
    jobs.sort((one, other) => other.createdAt.localeCompare(one.createdAt));
  }
  return updated;
}

/** Returns the page that a job belongs to: the first one with an older job. Null if its page has not been loaded. */
function pageFor(pages: JobListPage[], { createdAt }: ListedJob): JobListPage | null {
  const page = pages.find(({ jobs }) => jobs.some((job) => job.createdAt < createdAt));
  if (page !== undefined) return page;
  const last = pages.at(-1) ?? null;
  const isOlder = last?.nextCursor !== null && pages.some(({ jobs }) => jobs.length > 0);
  return isOlder ? null : last;
}
