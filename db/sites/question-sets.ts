import { DatabaseError, type Pool } from 'pg';
import type { Caller, SiteRef } from '../caller.ts';
import { canBeId, newId } from '../ids.ts';
import { writeAudit } from '../organizations/audit.ts';
import { withTransaction } from '../pool.ts';
import { onlyRow } from '../rows.ts';
import { toStoredJson, toStoredText } from '../stored-text.ts';
import { ownFingerprints } from './site-facts.ts';

/** A question, and what a good answer to it cites and states. */
export interface SetQuestion {
  /** Earlier questions of its conversation, oldest first; absent in sets of earlier versions. */
  history?: string[];
  text: string;
  /** Paths of pages, of which an answer should cite at least one. */
  expectedPages: string[];
  /** Texts that an answer should contain. */
  expectedFacts: string[];
  /** False for a question that the documentation should leave unanswered. */
  expectsAnswer: boolean;
  origin: 'manual' | 'conversation' | 'feedback' | 'gap';
}

export interface QuestionSetRow {
  id: string;
  name: string;
  questions: SetQuestion[];
  createdAt: Date;
  updatedAt: Date;
}

/** A set with the number of its questions. */
export type ListedSet = Omit<QuestionSetRow, 'questions'> & { questions: number };

/** Largest number of question sets of a site, and of questions of a set. */
export const maxSets = 50;
export const maxQuestions = 200;

export class SetNameTakenError extends Error {
  override name = 'SetNameTakenError';
}

export class SetChangedError extends Error {
  override name = 'SetChangedError';
}

export class TooManySetsError extends Error {
  override name = 'TooManySetsError';
}

const fields = 'question_sets.id, name, question_sets.created_at as "createdAt", updated_at as "updatedAt"';
const columns = `${fields}, questions`;
const ofSite = `site_id = $1 and exists (select from sites where sites.id = site_id and organization_id = $2)`;
const uniqueViolation = '23505';
/** Number of the newest conversations that are looked through for questions. */
const conversationsLookedAt = 500;
/** Number of earlier questions of a conversation that a question keeps, and their length. */
export const maxHistory = 5;
export const maxHistoryLength = 1_000;

export type QuestionSetStore = ReturnType<typeof createQuestionSetStore>;

/** Creates the store of a site's question sets. */
export function createQuestionSetStore(pool: Pool) {
  async function orTaken<Result>(name: string | undefined, work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      const isTaken = error instanceof DatabaseError && error.code === uniqueViolation;
      throw isTaken ? new SetNameTakenError(`The site already has a question set ${name}.`) : error;
    }
  }

  return {
    /** Returns all sets, by name. */
    async list({ id, organizationId }: SiteRef): Promise<ListedSet[]> {
      const { rows } = await pool.query<ListedSet>(
        `select ${fields}, jsonb_array_length(questions) as questions
         from question_sets where ${ofSite} order by name limit ${maxSets}`,
        [id, organizationId],
      );
      return rows;
    },

    async find({ id: siteId, organizationId }: SiteRef, id: string): Promise<QuestionSetRow | null> {
      if (!canBeId(id)) return null;
      const { rows } = await pool.query<QuestionSetRow>(
        `select ${columns} from question_sets where ${ofSite} and question_sets.id = $3`,
        [siteId, organizationId, id],
      );
      return rows[0] ?? null;
    },

    /** Throws SetNameTakenError and TooManySetsError. */
    create: (
      caller: Caller,
      siteId: string,
      { name, questions }: { name: string; questions: SetQuestion[] },
    ): Promise<QuestionSetRow> =>
      orTaken(
        name,
        withTransaction(pool, async (client) => {
          // one set of a site at a time, so that their number stays within its limit
          await client.query('select from sites where id = $1 and organization_id = $2 for no key update', [
            siteId,
            caller.organizationId,
          ]);
          const { rowCount } = await client.query('select from question_sets where site_id = $1', [siteId]);
          if ((rowCount ?? 0) >= maxSets) throw new TooManySetsError(`A site has at most ${maxSets} question sets.`);
          const { rows } = await client.query<QuestionSetRow>(
            `insert into question_sets (id, site_id, name, questions)
             select $3, id, $4, $5 from sites where id = $1 and organization_id = $2 returning ${columns}`,
            [siteId, caller.organizationId, newId('set_'), toStoredText(name), toStoredJson(questions)],
          );
          const set = onlyRow(rows);
          await writeAudit(client, caller, { action: 'question-set.create', subject: set.id, details: { name } });
          return set;
        }),
      ),

    /**
     * Changes a set; omitted fields stay. With `updatedAt`, only the set that was changed then. Null when there is no such
     * set. Throws SetNameTakenError and SetChangedError.
     */
    update: (
      caller: Caller,
      siteId: string,
      { id, name, questions, updatedAt }: { id: string; name?: string; questions?: SetQuestion[]; updatedAt?: Date },
    ): Promise<QuestionSetRow | null> =>
      orTaken(
        name,
        withTransaction(pool, async (client) => {
          if (!canBeId(id)) return null;
          const { rows } = await client.query<QuestionSetRow>(
            `update question_sets set name = coalesce($4, name), questions = coalesce($5, questions), updated_at = now()
             where ${ofSite} and id = $3 and date_trunc('milliseconds', updated_at) = coalesce($6, date_trunc('milliseconds', updated_at))
             returning ${columns}`,
            [
              siteId,
              caller.organizationId,
              id,
              name === undefined ? null : toStoredText(name),
              questions === undefined ? null : toStoredJson(questions),
              updatedAt ?? null,
            ],
          );
          const [set] = rows;
          if (set === undefined) {
            const { rowCount } = await client.query(`select from question_sets where ${ofSite} and id = $3`, [
              siteId,
              caller.organizationId,
              id,
            ]);
            if (rowCount === 1) throw new SetChangedError('The question set has changed since it was read.');
            return null;
          }
          await writeAudit(client, caller, { action: 'question-set.change', subject: id });
          return set;
        }),
      ),

    /** False when there is no such set. Its evaluations remain. */
    remove: (caller: Caller, siteId: string, id: string): Promise<boolean> =>
      withTransaction(pool, async (client) => {
        if (!canBeId(id)) return false;
        const { rowCount } = await client.query(`delete from question_sets where ${ofSite} and id = $3`, [
          siteId,
          caller.organizationId,
          id,
        ]);
        if (rowCount !== 1) return false;
        await writeAudit(client, caller, { action: 'question-set.delete', subject: id });
        return true;
      }),

    /** Returns the newest questions that were answered, or whose answer was rated up, with the pages that were cited. */
    async listAnswered(
      { id, organizationId }: SiteRef,
      { isRatedUp, limit }: { isRatedUp: boolean; limit: number },
    ): Promise<SetQuestion[]> {
      const { rows } = await pool.query<SetQuestion>(
        `select left(question.content, 2000) as text, array(
           select text from (
             select left(regexp_replace(content, '\\s+', ' ', 'g'), ${maxHistoryLength}) as text, position from thread_messages
             where thread_id = thread.id and role = 'user' and position < question.position
             order by position desc limit ${maxHistory}
           ) as earlier where text <> '' order by position
         ) as history, array(
           select distinct source ->> 'path' from jsonb_array_elements(answer.sources) as source limit 10
         ) as "expectedPages", '{}'::text[] as "expectedFacts", true as "expectsAnswer",
           case when $3 then 'feedback' else 'conversation' end as origin
         from (
           select id, created_at from threads where site_id = $1 and organization_id = $2 and fp <> all($5)
           order by created_at desc, id desc limit ${conversationsLookedAt}
         ) as thread, lateral (
           select position, sources from thread_messages
           where thread_id = thread.id and role = 'assistant' and answered and ending = 'finished' and (not $3 or exists (
             select from message_feedback where thread_id = thread.id and message_id = thread_messages.id and vote = 'up'
           )) offset 0
         ) as answer, lateral (
           select content, position from thread_messages
           where thread_id = thread.id and role = 'user' and position < answer.position
           order by position desc limit 1
         ) as question
         order by thread.created_at desc, answer.position desc limit $4`,
        [id, organizationId, isRatedUp, limit, ownFingerprints],
      );
      return rows;
    },
  };
}
