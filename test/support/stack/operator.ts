import type { Pool } from 'pg';
import { operatorOf, type Caller } from '../../../db/caller.ts';
import { bundleRecordSchema } from '../../../db/jobs/bundle-schema.ts';
import { createJobEndings } from '../../../db/jobs/job-endings.ts';
import { createJobEventStore } from '../../../db/jobs/job-events.ts';
import { createJobHistoryStore } from '../../../db/jobs/job-histories.ts';
import { createJobMessageStore, type NewMessage } from '../../../db/jobs/job-messages.ts';
import { createJobPlanStore, type PlanDecision } from '../../../db/jobs/job-plans.ts';
import { createJobBundleStore } from '../../../db/jobs/job-bundle.ts';
import { createJobTimelineStore } from '../../../db/jobs/job-timeline.ts';
import type { TurnRef } from '../../../workflows/contract/job.ts';

/** Creates the operator's actions on jobs, each in the organization of the job. */
export function asOperator(pool: Pool) {
  async function of(jobId: string): Promise<Caller> {
    const { rows } = await pool.query('select organization_id as "organizationId" from jobs where id = $1', [jobId]);
    return operatorOf(rows[0] ?? { organizationId: 'org_none' });
  }

  return {
    of,
    send: async (message: NewMessage) => createJobMessageStore(pool).send(await of(message.jobId), message),
    approve: async (decision: PlanDecision) => createJobPlanStore(pool).approve(await of(decision.jobId), decision),
    reject: async (decision: PlanDecision) => createJobPlanStore(pool).reject(await of(decision.jobId), decision),
    cancel: async (jobId: string) => createJobEndings(pool).cancel(await of(jobId), jobId),
    archive: async (jobId: string) => createJobEndings(pool).archive(await of(jobId), jobId),
    unarchive: async (jobId: string) => createJobEndings(pool).unarchive(await of(jobId), jobId),
    events: async (jobId: string, page = { after: 0, limit: 10_000 }) =>
      createJobEventStore(pool).read(await of(jobId), jobId, page),
    latestPatch: async (jobId: string) => createJobTimelineStore(pool).latestPatch(await of(jobId), jobId),
    history: async (ref: TurnRef) => createJobHistoryStore(pool).find(await of(ref.jobId), ref),
    async *record(jobId: string) {
      for await (const line of createJobBundleStore(pool).read(await of(jobId), jobId))
        yield bundleRecordSchema.parse(JSON.parse(line));
    },
  };
}
