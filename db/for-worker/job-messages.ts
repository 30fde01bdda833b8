import type { Pool } from 'pg';
import type { StepRef } from '../../workflows/contract/job.ts';
import { withTransaction } from '../pool.ts';

export type WorkerMessageStore = ReturnType<typeof createWorkerMessageStore>;

/** Delivers messages of people to the steps of a job. */
export function createWorkerMessageStore(pool: Pool) {
  /** Assigns the turn's waiting messages to a step that has no answer yet. */
  async function take({ jobId, turn, step }: StepRef): Promise<void> {
    await withTransaction(pool, async (client) => {
      const open = await client.query(
        'select from job_steps where job_id = $1 and turn = $2 and step = $3 and response is null for update',
        [jobId, turn, step],
      );
      if (open.rowCount !== 1) return;
      const taken = await client.query(
        'update job_messages set step = $3 where job_id = $1 and turn = $2 and step is null',
        [jobId, turn, step],
      );
      // recorded in the step's row, so that an attempt that called the model without them cannot store its answer
      await client.query(
        'update job_steps set messages = messages + $4 where job_id = $1 and turn = $2 and step = $3',
        [jobId, turn, step, taken.rowCount],
      );
      await client.query(
        `update jobs set waiting_messages = waiting_messages - $3, updated_at = now()
         where id = $1 and turn = $2 and status = 'active'`,
        [jobId, turn, taken.rowCount],
      );
    });
  }

  return { take };
}
