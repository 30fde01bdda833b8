import type { Pool } from 'pg';
import type { StepRef } from '../../workflows/contract/job.ts';
import type { NewJobEvent } from '../jobs/event-types.ts';
import { wakeWatchers } from '../jobs/wake-watchers.ts';
import { toStoredJson } from '../stored-text.ts';

/** Time during which a job does not ask a model that is down. */
export const modelDownMinutes = 5;

export type ModelFailureStore = ReturnType<typeof createModelFailureStore>;

/** Creates the store of failed model calls. */
export function createModelFailureStore(pool: Pool) {
  return {
    /**
     * Counts a failed call of a step across attempts and returns the new count: of the model, or of all calls without one.
     * Temporal's attempts also count kills.
     */
    async count({ jobId, turn, step }: StepRef, model: string | null): Promise<number> {
      const { rows } = await pool.query<{ failures: number }>(
        `insert into job_steps as steps (job_id, turn, step, model_failures, failed_models)
         values ($1, $2, $3, 1, case when $4::text is null then '{}' else jsonb_build_object($4::text, 1) end)
         on conflict (job_id, turn, step) do update
         set model_failures = steps.model_failures + 1,
             failed_models = case when $4::text is null then steps.failed_models
               else steps.failed_models || jsonb_build_object($4::text, coalesce((steps.failed_models ->> $4)::integer, 0) + 1)
             end
         returning coalesce((failed_models ->> $4)::integer, model_failures) as failures`,
        [jobId, turn, step, model],
      );
      return rows[0]?.failures ?? 0;
    },

    /** Makes the calls of a turn leave a model out for a while, with a notice to the job's watchers. */
    async leaveOut({ jobId, turn, step }: StepRef, model: string, notice: string): Promise<void> {
      const events: NewJobEvent[] = [{ type: 'notice', data: { text: notice } }];
      await pool.query(
        `with left_out as (
           update jobs
           set models_down = models_down || jsonb_build_object($4::text, now() + $5::integer * interval '1 minute')
           where id = $1 and turn = $2 and status = 'active'
           returning id
         )
         select append_job_events(id, $2, $3, $6) from left_out`,
        [jobId, turn, step, model, modelDownMinutes, toStoredJson(events)],
      );
      wakeWatchers(pool, jobId);
    },
  };
}
