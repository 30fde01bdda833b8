import type { Pool } from 'pg';
import type { TurnRef, WorkedTurn } from '../../workflows/contract/job.ts';
import { noStepAfter } from '../jobs/job-statements.ts';
import { onlyRow } from '../rows.ts';
import { toStoredJson } from '../stored-text.ts';

export type EffectStore = ReturnType<typeof createEffectStore>;

/** Stores the outside effects of a turn: which attempt owns each of them, and its result. */
export function createEffectStore(pool: Pool) {
  /** Raises and returns the fence of an outside effect of a turn, with what an earlier attempt stored. */
  async function claim(ref: TurnRef & { effect: string }): Promise<{ fence: number; result: unknown }> {
    const { rows } = await pool.query<{ fence: number; result: unknown }>(
      `insert into job_effects (job_id, turn, effect, fence) values ($1, $2, $3, 1)
       on conflict (job_id, turn, effect) do update set fence = job_effects.fence + 1
       returning fence::float8 as fence, result`,
      [ref.jobId, ref.turn, ref.effect],
    );
    return onlyRow(rows);
  }

  /** Returns what an attempt stored for the effect, null when none did. Raises no fence. */
  async function result(ref: TurnRef & { effect: string }): Promise<unknown> {
    const { rows } = await pool.query<{ result: unknown }>(
      'select result from job_effects where job_id = $1 and turn = $2 and effect = $3',
      [ref.jobId, ref.turn, ref.effect],
    );
    return rows[0]?.result ?? null;
  }

  /** Returns the result of the newest turn that stored one, up to and including a turn. */
  async function newest(ref: TurnRef & { effect: string }): Promise<unknown> {
    const { rows } = await pool.query<{ result: unknown }>(
      `select result from job_effects
       where job_id = $1 and turn <= $2 and effect = $3 and result is not null order by turn desc limit 1`,
      [ref.jobId, ref.turn, ref.effect],
    );
    return rows[0]?.result ?? null;
  }

  /** Compares the fence immediately before acting; false when a newer attempt owns the effect, or the turn continued. */
  async function holds(ref: WorkedTurn & { effect: string; fence: number }): Promise<boolean> {
    const { rowCount } = await pool.query(
      `select from job_effects
       where job_id = $1 and turn = $2 and effect = $3 and fence = $4 and ${noStepAfter('$5')}`,
      [ref.jobId, ref.turn, ref.effect, ref.fence, ref.step],
    );
    return rowCount === 1;
  }

  async function storeResult(ref: TurnRef & { effect: string; fence: number; result: unknown }): Promise<boolean> {
    const { rowCount } = await pool.query(
      'update job_effects set result = $5 where job_id = $1 and turn = $2 and effect = $3 and fence = $4',
      [ref.jobId, ref.turn, ref.effect, ref.fence, toStoredJson(ref.result)],
    );
    return rowCount === 1;
  }

  async function countFailure(ref: TurnRef & { effect: string }): Promise<number> {
    const { rows } = await pool.query<{ failures: number }>(
      `insert into job_effects (job_id, turn, effect, failures) values ($1, $2, $3, 1)
       on conflict (job_id, turn, effect) do update set failures = job_effects.failures + 1
       returning failures`,
      [ref.jobId, ref.turn, ref.effect],
    );
    return rows[0]?.failures ?? 0;
  }

  return { claim, result, newest, holds, storeResult, countFailure };
}
