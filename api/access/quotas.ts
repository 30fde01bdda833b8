import { z } from 'zod';
import { wholeNumber } from '../../lib/config/read-variables.ts';
import { defaultSnapshotGigabytes } from '../../lib/config/shared-config.ts';
import { ApiError } from '../http/errors.ts';

interface Quota {
  /** Name used by the database triggers. */
  name: string;
  /** Default of the variable. */
  most: number;
  /** Returns the error message at the limit. */
  sentence: (most: number) => string;
  /** Returns the seconds to wait, if the quota frees up over time. Otherwise something must be deleted first. */
  retryAfterSeconds?: () => number;
}

/** Quotas of an organization, by environment variable. */
const quotas: Record<string, Quota> = {
  DOCKET_MAX_PROJECTS: {
    name: 'projects',
    most: 200,
    sentence: (most) => `An organization has at most ${most} projects (DOCKET_MAX_PROJECTS); delete one first.`,
  },
  DOCKET_MAX_SITES: {
    name: 'sites',
    most: 50,
    sentence: (most) => `An organization has at most ${most} sites (DOCKET_MAX_SITES); delete one first.`,
  },
  DOCKET_MAX_KEYS: {
    name: 'keys',
    most: 100,
    sentence: (most) => `An organization has at most ${most} valid keys (DOCKET_MAX_KEYS); revoke one first.`,
  },
  DOCKET_MAX_WEBHOOKS: {
    name: 'webhooks',
    most: 100,
    sentence: (most) => `An organization has at most ${most} webhooks (DOCKET_MAX_WEBHOOKS); delete one first.`,
  },
  DOCKET_MAX_ACTIVE_JOBS: {
    name: 'activeJobs',
    most: 200,
    sentence: (most) =>
      `An organization has at most ${most} active jobs (DOCKET_MAX_ACTIVE_JOBS); wait for one to end.`,
    retryAfterSeconds: () => 30,
  },
  DOCKET_MAX_SNAPSHOT_GB: {
    name: 'snapshotGigabytes',
    most: defaultSnapshotGigabytes,
    sentence: (most) =>
      `The snapshots of an organization's jobs take at most ${most} GB (DOCKET_MAX_SNAPSHOT_GB); delete jobs first.`,
  },
  DOCKET_ORGANIZATION_JOBS_PER_HOUR: {
    name: 'turnsPerHour',
    most: 1_000,
    sentence: (most) =>
      `An organization may start at most ${most} jobs and follow-up turns per hour (DOCKET_ORGANIZATION_JOBS_PER_HOUR). Try again later.`,
    retryAfterSeconds: () => 3_600 - (Math.floor(Date.now() / 1_000) % 3_600),
  },
};

const shape = Object.fromEntries(
  Object.entries(quotas).map(([variable, { most }]) => [variable, wholeNumber(1).default(most)]),
);

/** Schema of the quota variables. The result maps quota names to numbers, the form the database uses. */
export const quotaVariables = z.object(shape).transform((given) => {
  return Object.fromEntries(
    Object.entries(quotas).map(([variable, { name, most }]) => [name, given[variable] ?? most]),
  );
});

/** Returns the error for a reached quota: 429 when waiting helps, otherwise 409. */
export function quotaReached({ name, most }: { name: string; most: number }): ApiError {
  const quota = Object.values(quotas).find((known) => known.name === name);
  if (quota === undefined) throw new TypeError(`There is no quota ${name}.`);
  const { sentence, retryAfterSeconds } = quota;
  if (retryAfterSeconds === undefined) return new ApiError(409, sentence(most));
  return new ApiError(429, sentence(most), { 'Retry-After': String(retryAfterSeconds()) });
}
