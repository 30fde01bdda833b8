export const statuses = ['active', 'completed', 'failed', 'archived'] as const;
export type Status = (typeof statuses)[number];

/** What the address of the list says. */
export interface JobFilters {
  status?: Status;
  project?: string;
  q?: string;
}

/** Reads the filters of an address; what is no filter is left out. */
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
