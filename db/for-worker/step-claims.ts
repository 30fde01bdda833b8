import type { Pool } from 'pg';
import type { StepRef } from '../../workflows/contract/job.ts';
import { stepColumns } from '../jobs/job-statements.ts';
import { maxLostAttempts } from '../jobs/job-timeline.ts';
import { wakeWatchers } from '../jobs/wake-watchers.ts';
import { onlyRow } from '../rows.ts';
import { contextOf, contextParts, type ContextRow, type JobContext } from './job-context.ts';
import { modelCallLeaseMs } from './model-call-leases.ts';
import { sealedJob, type SealedJob } from './projects/projects.ts';
import type { StepRow } from './steps.ts';

/** A step that an attempt claimed for a model call. */
export interface ClaimedCall extends StepRow {
  /** The job as of the claim. */
  job: SealedJob;
  /** The context of the call as of the claim; null when it has to be read. */
  context: JobContext | null;
}

/** Claims a step for the worker `$4`; the attempt that held it before is lost if it has not ended. */
const claimStep = (leaseUntil: string, condition = 'true') => `
  insert into job_steps (job_id, turn, step, fence, asked_until, worker) values ($1, $2, $3, 1, ${leaseUntil}, $4)
  on conflict (job_id, turn, step) do update
  set fence = job_steps.fence + 1, asked_until = excluded.asked_until, worker = excluded.worker, claimed_at = now(),
      lost_attempts = case
        when job_steps.ended_at is null and coalesce(jsonb_array_length(job_steps.lost_attempts), 0) < ${maxLostAttempts}
        then coalesce(job_steps.lost_attempts, '[]') || jsonb_build_object(
          'attempt', job_steps.fence, 'worker', job_steps.worker,
          'startedAt', coalesce(job_steps.claimed_at, job_steps.started_at), 'endedAt', now())
        else job_steps.lost_attempts end
  where ${condition}
  returning ${stepColumns}`;

const isFree = 'job_steps.response is not null or coalesce(job_steps.asked_until <= now(), true)';

type ClaimRow = { part: 'claim'; data: { step: StepRow; job: SealedJob } };

/**
 * The context is read as of the start of the statement, so only a first attempt reads it: an earlier one may have stored
 * notes or taken messages while the statement waited for its row.
 */
const claimAnswerStatement = `
  with claimed as (${claimStep("now() + $5::float8 * interval '1 millisecond'", isFree)})
  select part, turn, step, kind, text, data from (
    select 'claim' as part, 0 as turn, 0 as position, 0 as step, null as kind, null as text,
           json_build_object('step', to_json(claimed), 'job', ${sealedJob}) as data
    from claimed, append_job_events("jobId", turn, step, case
      when response is not null then '[]'
      else jsonb_build_array(jsonb_build_object('type', 'step-start', 'data', jsonb_build_object('attempt', fence)))
    end)
    union all
    select * from (${contextParts({ turn: '$6', step: '$7' })}) as parts
    where $6::integer is not null and exists (select from claimed where fence = 1)
  ) as parts
  order by turn, position, step, kind`;

/** Creates the claims of steps by attempts of a worker. */
export function createStepClaims(pool: Pool, worker: string | null) {
  return {
    /** Claims the step for this attempt: creates the row if needed, raises its fence, and returns what is stored. */
    async claim({ jobId, turn, step }: StepRef): Promise<StepRow> {
      const text = claimStep('null');
      const { rows } = await pool.query<StepRow>({ name: 'claim-step', text, values: [jobId, turn, step, worker] });
      return onlyRow(rows);
    },

    /**
     * Claims a step for a model call. A step without an answer is started and takes the lease, with an event. Null while
     * another attempt holds the lease. If the caller knows the job's steps up to `known` and this is the first attempt, the
     * same statement reads the context of the call.
     */
    async claimAnswer(ref: StepRef, known: Pick<StepRef, 'turn' | 'step'> | null = null): Promise<ClaimedCall | null> {
      const { jobId, turn, step } = ref;
      const { rows } = await pool.query<ClaimRow | ContextRow>({
        name: 'claim-answer',
        text: claimAnswerStatement,
        values: [jobId, turn, step, worker, modelCallLeaseMs, known?.turn ?? null, known?.step ?? null],
      });
      const claim = rows.find((row) => row.part === 'claim');
      if (claim === undefined) return null;
      wakeWatchers(pool, jobId);
      const parts = rows.filter((row) => row.part !== 'claim');
      // a job has a prompt, so no parts means that none were read
      return { ...claim.data.step, job: claim.data.job, context: parts.length === 0 ? null : contextOf(parts, known) };
    },
  };
}
