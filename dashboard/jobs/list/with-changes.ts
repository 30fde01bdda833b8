import type { ListedJob } from '../../http/types.ts';
import type { JobFilters, JobState } from './filters.ts';

export interface JobListPage {
  jobs: ListedJob[];
  nextCursor: string | null;
}

/** Returns the state of a job as the list tells them apart. */
export function stateOf({ status, details }: Pick<ListedJob, 'status' | 'details'>): JobState {
  if (status === 'active') return details.phase === 'queued' || details.phase === 'waiting' ? details.phase : 'running';
  return status === 'failed' && details.failure?.category === 'cancelled' ? 'cancelled' : status;
}

function fits(job: ListedJob, { status, project, model, failure, startedBy }: JobFilters): boolean {
  return (
    (status === undefined || stateOf(job) === status) &&
    (project === undefined || job.projectId === project) &&
    (model === undefined || job.model === model) &&
    (failure === undefined || job.details.failure?.category === failure) &&
    (startedBy === undefined || job.startedBy?.name === startedBy)
  );
}

/**
 * Updates changed jobs in place, inserts those that now match the filters, and removes those that no longer do. Jobs older than the loaded ones come with their own page.
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
  const direction = filters.order === 'oldest' ? -1 : 1;
  const isBefore = (a: ListedJob, b: ListedJob) => direction * b.createdAt.localeCompare(a.createdAt);
  const fresh = [...changed.values()].filter((job) => !known.has(job.id) && fits(job, filters));
  for (const job of fresh) pageFor(updated, (other) => isBefore(job, other) < 0)?.jobs.push(job);
  for (const { jobs } of fresh.length === 0 ? [] : updated) jobs.sort(isBefore);
  return updated;
}

/** Returns the page that a job belongs to: the first one with a later job in the list. Null if it is not loaded. */
function pageFor(pages: JobListPage[], isAhead: (other: ListedJob) => boolean): JobListPage | null {
  const page = pages.find(({ jobs }) => jobs.some(isAhead));
  if (page !== undefined) return page;
  const last = pages.at(-1) ?? null;
  const isBeyond = last?.nextCursor !== null && pages.some(({ jobs }) => jobs.length > 0);
  return isBeyond ? null : last;
}
