export const statuses = ['active', 'completed', 'failed', 'archived'] as const;
export type Status = (typeof statuses)[number];

/** Filters in the address of the job list. */
export interface JobFilters {
  status?: Status;
  project?: string;
  q?: string;
}

/** Reads the filters from an address and ignores anything invalid. */
export function readFilters(search: Record<string, unknown>): JobFilters {
  const status = statuses.find((name) => name === search['status']);
  const project = typeof search['project'] === 'string' ? search['project'] : undefined;
  const q = typeof search['q'] === 'string' || typeof search['q'] === 'number' ? String(search['q']) : undefined;
  return {
    ...(status === undefined ? {} : { status }),
    ...(project === undefined || project === '' ? {} : { project }),
    ...(q === undefined || q === '' ? {} : { q }),
  };
}
