import type { Pool } from 'pg';
import type { StepRef } from '../../workflows/contract/job.ts';

/** How long a step counts as asked for after an attempt said so: shorter than the engine takes to begin another attempt. */
export const askedForMs = 1_500;

export interface AskedSteps {
  /** Whether the step is still this attempt's: no other has begun since. */
  isHeld(held: StepRef & { fence: number }): Promise<boolean>;
  /** Whether an attempt is asking the model for the step, as far as is known. */
  isAsked(ref: StepRef): Promise<boolean>;
  /** Says that attempts of this process are still asking. */
  stillAsked(refs: StepRef[]): Promise<void>;
  /** Says that an attempt has stopped; nothing when a newer one has begun. */
  endAsked(held: StepRef & { fence: number }): Promise<void>;
}

/** Who asks a model right now. An attempt that the engine lost sight of goes on, and another one leaves the asking to it. */
export function createAskedSteps(pool: Pool): AskedSteps {
  return {
    async isHeld({ jobId, turn, step, fence }) {
      const { rowCount } = await pool.query({
        name: 'is-held',
        text: 'select from job_steps where job_id = $1 and turn = $2 and step = $3 and fence = $4',
        values: [jobId, turn, step, fence],
      });
      return rowCount === 1;
    },

    async isAsked({ jobId, turn, step }) {
      const { rowCount } = await pool.query(
        `select from job_steps
         where job_id = $1 and turn = $2 and step = $3 and response is null and asked_until > now()`,
        [jobId, turn, step],
      );
      return rowCount === 1;
    },

    async stillAsked(refs) {
      await pool.query({
        name: 'still-asked',
        text: `
          update job_steps set asked_until = now() + $4::float8 * interval '1 millisecond'
          from unnest($1::text[], $2::integer[], $3::integer[]) as asked (job_id, turn, step)
          where job_steps.job_id = asked.job_id and job_steps.turn = asked.turn and job_steps.step = asked.step
            and response is null`,
        values: [
          refs.map(({ jobId }) => jobId),
          refs.map(({ turn }) => turn),
          refs.map(({ step }) => step),
          askedForMs,
        ],
      });
    },

    async endAsked({ jobId, turn, step, fence }) {
      await pool.query(
        'update job_steps set asked_until = null where job_id = $1 and turn = $2 and step = $3 and fence = $4',
        [jobId, turn, step, fence],
      );
    },
  };
}
