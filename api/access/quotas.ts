import { z } from 'zod';
import { wholeNumber } from '../../lib/config/read-variables.ts';
import { defaultSnapshotGigabytes } from '../../lib/config/shared-config.ts';
import { ApiError } from '../http/errors.ts';

interface Quota {
  /** Name used by the database triggers. */
  name: string;
  /** Default of the variable. */
  max: number;
  /** Returns the error message at the limit. */
  sentence: (max: number) => string;
  /** Returns the seconds to wait, if the quota frees up over time. Otherwise something must be deleted first. */
  retryAfterSeconds?: () => number;
}

/** Quotas of an organization, by environment variable. */
const quotas: Record<string, Quota> = {
  DOCKET_MAX_PROJECTS: {
    name: 'projects',
    max: 200,
    sentence: (max) => `An organization has at most ${max} projects (DOCKET_MAX_PROJECTS); delete one first.`,
  },
  DOCKET_MAX_SITES: {
    name: 'sites',
    max: 50,
    sentence: (max) => `An organization has at most ${max} sites (DOCKET_MAX_SITES); delete one first.`,
  },
  DOCKET_MAX_KEYS: {
    name: 'keys',
    max: 100,
    sentence: (max) => `An organization has at most ${max} valid keys (DOCKET_MAX_KEYS); revoke one first.`,
  },
  DOCKET_MAX_WEBHOOKS: {
    name: 'webhooks',
    max: 100,
    sentence: (max) => `An organization has at most ${max} webhooks (DOCKET_MAX_WEBHOOKS); delete one first.`,
  },
  DOCKET_MAX_ACTIVE_JOBS: {
    name: 'activeJobs',
    max: 200,
    sentence: (max) => `An organization has at most ${max} active jobs (DOCKET_MAX_ACTIVE_JOBS); wait for one to end.`,
    retryAfterSeconds: () => 30,
  },
  DOCKET_MAX_SNAPSHOT_GB: {
    name: 'snapshotGigabytes',
    max: defaultSnapshotGigabytes,
    sentence: (max) =>
      `The snapshots of an organization's jobs take at most ${max} GB (DOCKET_MAX_SNAPSHOT_GB); delete jobs first.`,
  },
  DOCKET_ORGANIZATION_JOBS_PER_HOUR: {
    name: 'turnsPerHour',
    max: 1_000,
    sentence: (max) =>
      `An organization may start at most ${max} jobs and follow-up turns per hour (DOCKET_ORGANIZATION_JOBS_PER_HOUR). Try again later.`,
    retryAfterSeconds: () => 3_600 - (Math.floor(Date.now() / 1_000) % 3_600),
  },
};

const shape = Object.fromEntries(
  Object.entries(quotas).map(([variable, { max }]) => [variable, wholeNumber(1).default(max)]),
);

/** Schema of the quota variables. The result maps quota names to numbers, the form the database uses. */
export const quotaVariables = z.object(shape).transform((given) => {
  return Object.fromEntries(Object.entries(quotas).map(([variable, { name, max }]) => [name, given[variable] ?? max]));
});

/** Returns the error for a reached quota: 429 when waiting helps, otherwise 409. */
export function quotaReached({ name, max }: { name: string; max: number }): ApiError {
  const quota = Object.values(quotas).find((known) => known.name === name);
  if (quota === undefined) throw new TypeError(`There is no quota ${name}.`);
  const { sentence, retryAfterSeconds } = quota;
  if (retryAfterSeconds === undefined) return new ApiError(409, sentence(max));
  return new ApiError(429, sentence(max), { 'Retry-After': String(retryAfterSeconds()) });
}
