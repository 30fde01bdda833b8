import type { Pool } from 'pg';
import type { SiteRef } from '../caller.ts';
import { canBeId } from '../ids.ts';
import { cursorOf, decodeCursor, pageOf } from '../page-cursor.ts';
import { readWithin } from '../pool.ts';
import { toStoredText } from '../stored-text.ts';
import { mostSources } from './threads.ts';

export interface Feedback {
  vote: 'up' | 'down';
  reasons: string[];
  comment: string | null;
}

export interface ConversationRow {
  threadId: string;
  fp: string;
  createdAt: Date;
  updatedAt: Date;
  /** The first question; null when nothing was stored yet. */
  question: string | null;
  questions: number;
  unanswered: number;
  up: number;
  down: number;
  sources: { url: string; title: string }[];
}

export interface ConversationQuery {
  /** Whether every question was answered. */
  answered?: boolean;
  vote?: 'up' | 'down';
  search?: string;
  limit: number;
  cursor?: string;
}

export interface ConversationStore {
  /** Newest first. Throws InvalidCursorError. */
  list(
    site: SiteRef,
    query: ConversationQuery,
  ): Promise<{ conversations: ConversationRow[]; nextCursor: string | null }>;
  /** Replaces the feedback on an answer. False when the site has no such answer. */
  rate(site: SiteRef, answer: { threadId: string; messageId: string; feedback: Feedback }): Promise<boolean>;
  /**
   * Returns questions without an answer, or with one that a reader rated down; the newest of the last 90 days, at most
   * a tenth from one reader.
   */
  listUnanswered(site: SiteRef, limit: number): Promise<{ text: string; askedAt: Date }[]>;
}

/** Reader of conversations that were held in the dashboard. */
const ownFingerprints = ['playground'];

/** Length of the beginning of a question that the list shows. */
const longestQuestion = 2_000;

/** A reader contributes at most a tenth of the unanswered questions, selected from ten times as many. */
const readersWindow = 10;

/** Largest number of conversations that one page of a search reads. */
const mostLookedAt = 2_000;

/** Creates the store of readers' conversations on a site, and of their feedback. */
export function createConversationStore(pool: Pool): ConversationStore {
  return {
    async list({ id, organizationId }, { answered, vote, search, limit, cursor }) {
      const after = cursor === undefined ? null : decodeCursor(cursor);
      const time = (parameter: string) => `'epoch'::timestamptz + ${parameter}::bigint * interval '1 microsecond'`;
      const looked = `
        select * from threads
        where site_id = $1 and organization_id = $4 and ($2::bigint is null or (created_at, id) < (${time('$2')}, $3::text))
        order by created_at desc, id desc`;
      const where = [id, after?.createdMicros ?? null, after?.id ?? null, organizationId];
      return readWithin(pool, 'search', async (client) => {
        const { rows } = await client.query<ConversationRow & { id: string; createdMicros: string }>(
          `select threads.id, threads.id as "threadId", fp, threads.created_at as "createdAt", threads.updated_at as "updatedAt",
                counts.questions, counts.unanswered, counts.up, counts.down, counts.sources,
                (select left(content, ${longestQuestion}) from thread_messages
                 where thread_id = threads.id and role = 'user' order by position limit 1) as question,
                (extract(epoch from threads.created_at) * 1000000)::bigint::text as "createdMicros"
         from (${looked} limit ${mostLookedAt}) as threads, lateral (
           select count(*) filter (where role = 'user')::integer as questions,
                  count(*) filter (where answered = false and ending = 'finished')::integer as unanswered,
                  count(*) filter (where vote = 'up')::integer as up,
                  count(*) filter (where vote = 'down')::integer as down,
                  coalesce((
                    select jsonb_agg(source) from (
                      select distinct jsonb_build_object('url', source ->> 'url', 'title', source ->> 'title') as source
                      from thread_messages as cited, jsonb_array_elements(cited.sources) as source
                      where cited.thread_id = threads.id limit ${mostSources}
                    ) as sources
                  ), '[]') as sources
           from thread_messages left join message_feedback
             on message_feedback.thread_id = thread_messages.thread_id and message_id = thread_messages.id
           where thread_messages.thread_id = threads.id
         ) as counts
         where ($5::boolean is null or (unanswered = 0 and questions > 0) = $5)
           and ($6::text is null or ($6 = 'up' and up > 0) or ($6 = 'down' and down > 0))
           and ($7::text is null or exists (
             -- the offset keeps the planner from hashing the messages of all conversations
             select from thread_messages where thread_id = threads.id and content ilike $7 offset 0
           ))
         order by threads.created_at desc, threads.id desc limit $8`,
          [
            ...where,
            answered ?? null,
            vote ?? null,
            search === undefined ? null : `%${toStoredText(search).replaceAll(/[\\%_]/g, '\\$&')}%`,
            limit + 1,
          ],
        );
        const { rows: conversations, nextCursor } = pageOf(rows, limit);
        if (nextCursor !== null || (answered ?? vote ?? search) === undefined) return { conversations, nextCursor };
        // the next page continues where this one stopped reading
        const stopped = await client.query<{ id: string; createdMicros: string }>(
          `select id, (extract(epoch from created_at) * 1000000)::bigint::text as "createdMicros"
         from (${looked}) as threads offset ${mostLookedAt - 1} limit 1`,
          where,
        );
        return { conversations, nextCursor: cursorOf(stopped.rows[0]) };
      });
    },

    async rate({ id, organizationId }, { threadId, messageId, feedback }) {
      if (!canBeId(threadId)) return false;
      const { vote, reasons, comment } = feedback;
      const { rowCount } = await pool.query(
        `insert into message_feedback (thread_id, message_id, vote, reasons, comment)
         select thread_id, thread_messages.id, $4, $5, $6
         from thread_messages join threads on threads.id = thread_id
         where thread_id = $1 and thread_messages.id = $2 and role = 'assistant' and site_id = $3 and organization_id = $7
         on conflict (thread_id, message_id) do update
         set vote = excluded.vote, reasons = excluded.reasons, comment = excluded.comment, updated_at = now()`,
        [
          threadId,
          toStoredText(messageId),
          id,
          vote,
          reasons.map(toStoredText),
          comment === null ? null : toStoredText(comment),
          organizationId,
        ],
      );
      return rowCount === 1;
    },

    async listUnanswered({ id, organizationId }, limit) {
      const { rows } = await pool.query<{ text: string; askedAt: Date }>(
        `select left(question.content, 1000) as text, created_at as "askedAt"
         from (
           select *, row_number() over (partition by fp order by position desc) as nth
           from (
             select threads.id, fp, answer.position, answer.created_at
             from unanswered_messages as answer join threads on threads.id = thread_id
             where answer.site_id = $1 and organization_id = $4 and fp <> all($3)
               and answer.created_at > now() - interval '90 days'
             order by answer.created_at desc, answer.position desc limit $2 * ${readersWindow}
           ) as newest
         ) as answer
         join lateral (
           select content from thread_messages
           where thread_id = answer.id and role = 'user' and position < answer.position
           order by position desc limit 1
         ) as question on true
         where nth <= $2 / ${readersWindow}
         order by position desc limit $2`,
        [id, limit, ownFingerprints, organizationId],
      );
      return rows;
    },
  };
}
