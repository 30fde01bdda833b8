import type { Pool } from 'pg';
import type { Caller, SiteRef } from '../caller.ts';
import { canBeId, newId } from '../ids.ts';
import { writeAudit } from '../organizations/audit.ts';
import { withTransaction } from '../pool.ts';
import { onlyRow } from '../rows.ts';
import { toStoredJson } from '../stored-text.ts';
import type { QuestionSetRow, SetQuestion } from './question-sets.ts';

/** How questions are asked. */
export interface EvaluatedConfiguration {
  /** Model, as `provider/model`. */
  model: string;
  /** Instructions of the owner; null for none. */
  instructions: string | null;
  retrievalPageSize: number;
  /** Model that rewrites questions for the search; null for none, absent in evaluations of earlier versions. */
  queryRewriting?: string | null;
}

export interface EvaluationResult {
  position: number;
  side: number;
  answer: string;
  /** Paths of cited pages. */
  cited: string[];
  /** Paths of the passages that were found. */
  found: string[];
  /** Query that was searched for instead of the question; null if the question was. */
  searchQuery: string | null;
  answered: boolean;
  missingFacts: string[];
  /** Whether an expected page is cited; null if none is expected. */
  citesExpected: boolean | null;
  /** Whether a passage of an expected page was found; null if none is expected. */
  findsExpected: boolean | null;
  passed: boolean;
  costMicros: number;
  durationMs: number;
  indexVersion: number;
}

export interface EvaluationRow {
  id: string;
  setId: string | null;
  setName: string;
  questions: SetQuestion[];
  configurations: EvaluatedConfiguration[];
  state: 'running' | 'completed' | 'failed' | 'stopped';
  notice: string | null;
  createdAt: Date;
  endedAt: Date | null;
}

/** An evaluation with the numbers of its questions and results. */
export type ListedEvaluation = Omit<EvaluationRow, 'questions'> & { questions: number; results: number };

/** Number of evaluations that a site keeps. */
export const maxEvaluations = 50;

export class EvaluationRunningError extends Error {
  override name = 'EvaluationRunningError';
}

const fields = `
  evaluations.id, set_id as "setId", set_name as "setName", configurations, state, notice,
  evaluations.created_at as "createdAt", ended_at as "endedAt"`;
const columns = `${fields}, evaluations.questions`;
const ofSite = `site_id = $1 and exists (select from sites where sites.id = site_id and organization_id = $2)`;

export type EvaluationStore = ReturnType<typeof createEvaluationStore>;

/** Creates the store of a site's evaluations. */
export function createEvaluationStore(pool: Pool) {
  return {
    /**
     * Starts an evaluation, which a process of the API carries out, and removes those beyond the newest. Throws
     * EvaluationRunningError while the site has another one.
     */
    create: (
      caller: Caller,
      siteId: string,
      { set, configurations }: { set: QuestionSetRow; configurations: EvaluatedConfiguration[] },
    ): Promise<EvaluationRow> =>
      withTransaction(pool, async (client) => {
        const { rows } = await client.query<EvaluationRow>(
          `insert into evaluations (id, site_id, set_id, set_name, questions, configurations, state)
           select $3, id, $4, $5, $6, $7, 'running' from sites where id = $1 and organization_id = $2
           on conflict (site_id) where state = 'running' do nothing returning ${columns}`,
          [
            siteId,
            caller.organizationId,
            newId('eval_'),
            set.id,
            set.name,
            toStoredJson(set.questions),
            toStoredJson(configurations),
          ],
        );
        if (rows.length === 0) throw new EvaluationRunningError('An evaluation of the site is running.');
        const evaluation = onlyRow(rows);
        await client.query(
          `delete from evaluations where id in (
             select id from evaluations where ${ofSite} order by created_at desc, id desc offset ${maxEvaluations}
           )`,
          [siteId, caller.organizationId],
        );
        await writeAudit(client, caller, { action: 'evaluation.create', subject: evaluation.id });
        return evaluation;
      }),

    /** Returns the stored evaluations, newest first. */
    async list({ id, organizationId }: SiteRef): Promise<ListedEvaluation[]> {
      const { rows } = await pool.query<ListedEvaluation>(
        `select ${fields}, jsonb_array_length(questions) as questions, (
           select count(*)::integer from evaluation_results where evaluation_id = evaluations.id
         ) as results
         from evaluations where ${ofSite} order by created_at desc, id desc limit ${maxEvaluations}`,
        [id, organizationId],
      );
      return rows;
    },

    async find(
      { id: siteId, organizationId }: SiteRef,
      id: string,
    ): Promise<(EvaluationRow & { results: EvaluationResult[] }) | null> {
      if (!canBeId(id)) return null;
      const { rows } = await pool.query<EvaluationRow>(
        `select ${columns} from evaluations where ${ofSite} and evaluations.id = $3`,
        [siteId, organizationId, id],
      );
      const [evaluation] = rows;
      if (evaluation === undefined) return null;
      const results = await pool.query<EvaluationResult>(
        `select position, side, answer, cited, found, search_query as "searchQuery", answered, missing_facts as "missingFacts", cites_expected as "citesExpected",
                finds_expected as "findsExpected", passed, cost_micros::float8 as "costMicros", duration_ms as "durationMs",
                index_version as "indexVersion"
         from evaluation_results where evaluation_id = $1 order by position, side`,
        [evaluation.id],
      );
      return { ...evaluation, results: results.rows };
    },

    /** Stops a running evaluation; no effect on one that has ended. False when there is no such evaluation. */
    stop: (caller: Caller, siteId: string, id: string): Promise<boolean> =>
      withTransaction(pool, async (client) => {
        if (!canBeId(id)) return false;
        const { rows } = await client.query<{ state: string }>(
          `select state from evaluations where ${ofSite} and id = $3 for update`,
          [siteId, caller.organizationId, id],
        );
        if (rows[0] === undefined) return false;
        if (rows[0].state !== 'running') return true;
        await client.query(`update evaluations set state = 'stopped', notice = null, ended_at = now() where id = $1`, [
          id,
        ]);
        await writeAudit(client, caller, { action: 'evaluation.stop', subject: id });
        return true;
      }),
  };
}
