import type { Pool } from 'pg';
import type { EvaluatedConfiguration, EvaluationResult } from '../sites/evaluations.ts';
import type { SetQuestion } from '../sites/question-sets.ts';
import { withTransaction } from '../pool.ts';
import { toStoredText } from '../stored-text.ts';

/** An evaluation that this process carries out. */
export interface ClaimedEvaluation {
  id: string;
  organizationId: string;
  domain: string;
  questions: SetQuestion[];
  configurations: EvaluatedConfiguration[];
  /** Results that exist already. */
  done: { position: number; side: number }[];
}

/** A postponed evaluation, which has a notice, holds up no other of its organization. */
const claimStatement = `
  with running as (
    select evaluations.id, organization_id, domain, claimed_until, notice, evaluations.created_at
    from evaluations join sites on sites.id = site_id where state = 'running'
  ), waiting as (
    select * from running where (claimed_until is null or claimed_until < now()) and organization_id not in (
      select organization_id from running where claimed_until > now() and notice is null
    )
    order by created_at limit 1
  )
  update evaluations set claimed_until = now() + $1::float8 * interval '1 second', notice = null from waiting
  where evaluations.id = waiting.id and state = 'running'
  returning evaluations.id, waiting.organization_id as "organizationId", waiting.domain, questions, configurations, (
    select coalesce(jsonb_agg(jsonb_build_object('position', position, 'side', side)), '[]')
    from evaluation_results where evaluation_id = evaluations.id
  ) as done`;

export type EvaluationRunStore = ReturnType<typeof createEvaluationRunStore>;

/** Running evaluations, as the API's processes share the work on them. */
export function createEvaluationRunStore(pool: Pool) {
  return {
    /** Claims an evaluation for `seconds`, one of an organization at a time; null when there is none. */
    claim: ({ seconds }: { seconds: number }): Promise<ClaimedEvaluation | null> =>
      withTransaction(pool, async (client) => {
        // two claims at once would not see each other
        await client.query(`select pg_advisory_xact_lock(hashtextextended('evaluations', 0))`);
        const { rows } = await client.query<ClaimedEvaluation>(claimStatement, [seconds]);
        return rows[0] ?? null;
      }),

    /**
     * Records a result, once, and claims the evaluation for `seconds` more. False when it was stopped or deleted: nothing
     * is recorded.
     */
    async record(id: string, result: EvaluationResult, { seconds }: { seconds: number }): Promise<boolean> {
      const { rowCount } = await pool.query(
        `with held as (
           update evaluations set claimed_until = now() + $16::float8 * interval '1 second', failures = 0, notice = null
           where id = $1 and state = 'running' returning id
         ), added as (
           insert into evaluation_results
             (evaluation_id, position, side, answer, cited, found, answered, missing_facts, cites_expected, finds_expected, passed,
              cost_micros, duration_ms, index_version, search_query)
           select id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15 from held
           on conflict do nothing
         )
         select from held`,
        [
          id,
          result.position,
          result.side,
          toStoredText(result.answer),
          result.cited.map(toStoredText),
          result.found.map(toStoredText),
          result.answered,
          result.missingFacts.map(toStoredText),
          result.citesExpected,
          result.findsExpected,
          result.passed,
          result.costMicros,
          result.durationMs,
          result.indexVersion,
          result.searchQuery === null ? null : toStoredText(result.searchQuery),
          seconds,
        ],
      );
      return rowCount === 1;
    },

    /** Releases an evaluation, which continues after `seconds`. Returns its failures since the last result. */
    async postpone(
      id: string,
      options: { seconds: number; notice: string | null; isFailure: boolean },
    ): Promise<number> {
      const { seconds, notice, isFailure } = options;
      const { rows } = await pool.query<{ failures: number }>(
        `update evaluations set claimed_until = now() + $2::float8 * interval '1 second', notice = $3,
           failures = failures + $4::boolean::integer
         where id = $1 and state = 'running' returning failures`,
        [id, seconds, notice, isFailure],
      );
      return rows[0]?.failures ?? 0;
    },

    async end(id: string, { state, notice }: { state: 'completed' | 'failed'; notice: string | null }): Promise<void> {
      await pool.query(
        `update evaluations set state = $2, notice = $3, ended_at = now(), claimed_until = null
         where id = $1 and state = 'running'`,
        [id, state, notice],
      );
    },
  };
}
