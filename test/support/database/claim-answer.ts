import type { Pool } from 'pg';
import { createStepStore, type StepRow } from '../../../db/for-worker/steps.ts';
import type { StepRef } from '../../../workflows/contract/job.ts';

/** Claims a step for an attempt whose predecessor, if there is one, has lost its lease. */
export async function claimAnswer(pool: Pool, ref: StepRef): Promise<StepRow> {
  await pool.query('update job_steps set asked_until = null where job_id = $1 and turn = $2 and step = $3', [
    ref.jobId,
    ref.turn,
    ref.step,
  ]);
  const claimed = await createStepStore(pool).claimAnswer(ref);
  if (claimed === null) throw new Error('Another attempt has claimed the step.');
  return claimed;
}
