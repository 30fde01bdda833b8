import { z } from 'zod';
import type { Retention } from '../../db/for-worker/retention.ts';

const wholeNumber = (least: number) => {
  const rule = `must be a whole number of at least ${least}`;
  return z.coerce.number(rule).int(rule).min(least, rule).max(1e9, rule);
};

export const retentionVariables = z.object({
  DOCKET_JOB_DAYS: wholeNumber(0).default(365),
  DOCKET_AUDIT_DAYS: wholeNumber(0).default(730),
  DOCKET_MAX_SNAPSHOT_GB: wholeNumber(1).default(20),
  DOCKET_MAX_THREADS: wholeNumber(1).default(100_000),
});

export function retentionOf(env: z.infer<typeof retentionVariables>): Retention {
  return {
    jobDays: env.DOCKET_JOB_DAYS,
    auditDays: env.DOCKET_AUDIT_DAYS,
    snapshotBytes: env.DOCKET_MAX_SNAPSHOT_GB * 2 ** 30,
    threads: env.DOCKET_MAX_THREADS,
  };
}
