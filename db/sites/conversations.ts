import type { Pool } from 'pg';
import type { SiteRef } from '../caller.ts';
import { canBeId } from '../ids.ts';
import { cursorOf, decodeCursor, pageOf } from '../page-cursor.ts';
import { readWithin, withTransaction } from '../pool.ts';
import { toStoredText } from '../stored-text.ts';
import { anonymousFingerprint, noteOutcome, noteVote, ownFingerprints } from './site-facts.ts';
import { maxSources } from './threads.ts';

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

interface ConversationQuery {
  /** Whether every question was answered. */
  answered?: boolean;
  vote?: 'up' | 'down';
  search?: string;
  /** Began at or after this time. */
  since?: Date;
  /** Began before this time. */
  until?: Date;
  /** Has an answer at this location of the documentation; an empty text stands for none. */
  location?: { topic?: string; version?: string; language?: string };
  /** Has an answer that cites the page. */
  page?: string;
  limit: number;
  cursor?: string;
}

interface UnansweredQuestion {
  /** The query that was searched for, which needs no conversation; the reader's own words if they were searched for. */
  text: string;
  askedAt: Date;
  /** Whether the assistant found no answer in the documentation. */
  notFound: boolean;
  votedDown: boolean;
  /** The reader's reasons and comment; null for none. */
  remark: string | null;
}

/** Length of the beginning of a question that the list shows. */
const maxQuestionLength = 2_000;

/** Length of the beginning of an unanswered question, by which its conversations are found. */
export const maxUnansweredLength = 1_000;

/** Length of the beginning of a reader's remark that a gap shows. */
const maxRemarkLength = 300;

/** A reader with a name contributes at most a tenth of the unanswered questions, selected from ten times as many. */
const readersWindow = 10;

/** Largest number of conversations that one page of a search reads. */
const maxScanned = 2_000;

export type ConversationStore = ReturnType<typeof createConversationStore>;

/** Creates the store of readers' conversations on a site, and of their feedback. */
export function createConversationStore(pool: Pool) {
  return {
    /** Newest first. Throws InvalidCursorError. */
    async list(
      { id, organizationId }: SiteRef,
      { answered, vote, search, since, until, location = {}, page, limit, cursor }: ConversationQuery,
    ): Promise<{ conversations: ConversationRow[]; nextCursor: string | null }> {
      const after = cursor === undefined ? null : decodeCursor(cursor);
      const time = (parameter: string) => `'epoch'::timestamptz + ${parameter}::bigint * interval '1 microsecond'`;
      const scanned = `
        select * from threads
        where site_id = $1 and organization_id = $4 and ($2::bigint is null or (created_at, id) < (${time('$2')}, $3::text))
          and ($5::timestamptz is null or created_at >= $5) and ($6::timestamptz is null or created_at < $6)
        order by created_at desc, id desc`;
      const where = [id, after?.createdMicros ?? null, after?.id ?? null, organizationId, since ?? null, until ?? null];
      const ofAnswer = [location.topic, location.version, location.language, page].map((value) => value ?? null);
      return readWithin(pool, 'search', async (client) => {
        const { rows } = await client.query<ConversationRow & { id: string; createdMicros: string }>(
          `select threads.id, threads.id as "threadId", fp, threads.created_at as "createdAt", threads.updated_at as "updatedAt",
                counts.questions, counts.unanswered, counts.up, counts.down, counts.sources,
                (select left(content, ${maxQuestionLength}) from thread_messages
                 where thread_id = threads.id and role = 'user' order by position limit 1) as question,
                (extract(epoch from threads.created_at) * 1000000)::bigint::text as "createdMicros"
         from (${scanned} limit ${maxScanned}) as threads, lateral (
           select count(*) filter (where role = 'user')::integer as questions,
                  count(*) filter (where answered = false and ending = 'finished')::integer as unanswered,
                  count(*) filter (where vote = 'up')::integer as up,
                  count(*) filter (where vote = 'down')::integer as down,
                  coalesce((
                    select jsonb_agg(source) from (
                      select distinct jsonb_build_object('url', source ->> 'url', 'title', source ->> 'title') as source
                      from thread_messages as cited, jsonb_array_elements(cited.sources) as source
                      where cited.thread_id = threads.id limit ${maxSources}
                    ) as sources
                  ), '[]') as sources
           from thread_messages left join message_feedback
             on message_feedback.thread_id = thread_messages.thread_id and message_id = thread_messages.id
           where thread_messages.thread_id = threads.id
         ) as counts
         where ($7::boolean is null or (unanswered = 0 and questions > 0) = $7)
           and ($8::text is null or ($8 = 'up' and up > 0) or ($8 = 'down' and down > 0))
           and ($9::text is null or exists (
             -- the offset keeps the planner from hashing the messages of all conversations
             select from thread_messages where thread_id = threads.id and (content ilike $9 or search_query ilike $9) offset 0
           ))
           and (coalesce($10::text, $11::text, $12::text, $13::text) is null or exists (
             select from thread_messages where thread_id = threads.id and role = 'assistant'
               and ($10 is null or coalesce(topic, '') = $10) and ($11 is null or coalesce(version, '') = $11)
               and ($12 is null or coalesce(language, '') = $12)
               and ($13 is null or sources @> jsonb_build_array(jsonb_build_object('path', $13))) offset 0
           ))
         order by threads.created_at desc, threads.id desc limit $14`,
          [
            ...where,
            answered ?? null,
            vote ?? null,
            search === undefined ? null : `%${toStoredText(search).replaceAll(/[\\%_]/g, '\\$&')}%`,
            ...ofAnswer.map((value) => value && toStoredText(value)),
            limit + 1,
          ],
        );
        const { rows: conversations, nextCursor } = pageOf(rows, limit);
        if (
          nextCursor !== null ||
          [answered, vote, search, ...Object.values(location), page].every((one) => one === undefined)
        )
          return { conversations, nextCursor };
        // the next page continues where this one stopped reading
        const stopped = await client.query<{ id: string; createdMicros: string }>(
          `select id, (extract(epoch from created_at) * 1000000)::bigint::text as "createdMicros"
         from (${scanned}) as threads offset ${maxScanned - 1} limit 1`,
          where,
        );
        return { conversations, nextCursor: cursorOf(stopped.rows[0]) };
      });
    },

    /** Replaces the feedback on an answer. False when the site has no such answer. */
    async rate(
      { id, organizationId }: SiteRef,
      answer: { threadId: string; messageId: string; feedback: Feedback },
    ): Promise<boolean> {
      const { threadId, messageId, feedback } = answer;
      if (!canBeId(threadId)) return false;
      const { vote, reasons, comment } = feedback;
      return withTransaction(pool, async (client) => {
        // one change of a conversation's figures at a time
        const held = await client.query(
          'select from threads where id = $1 and site_id = $2 and organization_id = $3 for update',
          [threadId, id, organizationId],
        );
        if (held.rowCount !== 1) return false;
        await noteVote(client, { threadId, messageId: toStoredText(messageId), vote });
        const { rowCount } = await client.query(
          `insert into message_feedback (thread_id, message_id, vote, reasons, comment)
           select thread_id, id, $3, $4, $5 from thread_messages where thread_id = $1 and id = $2 and role = 'assistant'
           on conflict (thread_id, message_id) do update
           set vote = excluded.vote, reasons = excluded.reasons, comment = excluded.comment, updated_at = now()`,
          [
            threadId,
            toStoredText(messageId),
            vote,
            reasons.map(toStoredText),
            comment === null ? null : toStoredText(comment),
          ],
        );
        await noteOutcome(client, threadId);
        return rowCount === 1;
      });
    },

    /**
     * Returns questions without an answer, or with one that a reader rated down, of the last 90 days: first the newest of
     * every hour, so that a burst displaces only others of its hour, then the second newest, and so on; at most a tenth
     * from one reader with a name.
     */
    async listUnanswered({ id, organizationId }: SiteRef, limit: number): Promise<UnansweredQuestion[]> {
      const { rows } = await pool.query<UnansweredQuestion>(
        `select left(coalesce(question.search_query, question.content), ${maxUnansweredLength}) as text, answer.created_at as "askedAt",
                said.answered = false and said.ending = 'finished' as "notFound",
                coalesce(vote = 'down', false) as "votedDown",
                case when vote = 'down' then
                  nullif(left(concat_ws(': ', nullif(array_to_string(reasons, ', '), ''), comment), ${maxRemarkLength}), '')
                end as remark
         from (
           select * from (
             select *, row_number() over (partition by fp order by position desc) as nth_of_reader,
                    row_number() over (partition by date_trunc('hour', created_at) order by position desc) as nth_of_hour
             from (
               select threads.id, answer.message_id, fp, answer.position, answer.created_at
               from unanswered_messages as answer join threads on threads.id = thread_id
               where answer.site_id = $1 and organization_id = $4 and fp <> all($3)
                 and answer.created_at > now() - interval '90 days'
               order by answer.created_at desc, answer.position desc limit $2 * ${readersWindow}
             ) as newest
           ) as ranked
           where fp = $5 or nth_of_reader <= $2 / ${readersWindow}
           order by nth_of_hour, position desc limit $2
         ) as answer
         join lateral (
           select content, search_query from thread_messages
           where thread_id = answer.id and role = 'user' and position < answer.position
           order by position desc limit 1
         ) as question on true
         join thread_messages as said on said.thread_id = answer.id and said.id = answer.message_id
         left join message_feedback as feedback on feedback.thread_id = said.thread_id and feedback.message_id = said.id
         order by answer.position desc`,
        [id, limit, ownFingerprints, organizationId, anonymousFingerprint],
      );
      return rows;
    },
  };
}
