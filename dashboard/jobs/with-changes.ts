import type { ListedJob } from '../http/types.ts';
import type { JobFilters } from './filters.ts';

export interface JobListPage {
  jobs: ListedJob[];
  nextCursor: string | null;
}

function fits(job: ListedJob, { status, project }: JobFilters): boolean {
  return (status === undefined || job.status === status) && (project === undefined || job.projectId === project);
}

/** Puts changed jobs where they stand, new ones in front, and takes out what fits no more. */
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
  const newest = updated[0]?.jobs[0]?.createdAt ?? '';
  const fresh = [...changed.values()]
    .filter((job) => !known.has(job.id) && fits(job, filters) && job.createdAt >= newest)
    .sort((one, other) => other.createdAt.localeCompare(one.createdAt));
  const [first, ...rest] = updated;
  return first === undefined ? updated : [{ ...first, jobs: [...fresh, ...first.jobs] }, ...rest];
}
