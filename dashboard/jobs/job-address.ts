import type { JobRef } from './job-queries.ts';

/** Returns a job as an address names it: `prj_…/job_…`. */
export function jobAddress({ projectId, id }: JobRef): string {
  return `${projectId}/${id}`;
}

/** Reads what `jobAddress` wrote; null for anything else. */
export function readJobAddress(text: unknown): JobRef | null {
  const [, projectId, id] = /^(prj_\w+)\/(job_\w+)$/.exec(typeof text === 'string' ? text : '') ?? [];
  return projectId === undefined || id === undefined ? null : { projectId, id };
}
