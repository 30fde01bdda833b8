import type { Pool, PoolClient } from 'pg';
import { writeAudit } from '../organizations/audit.ts';
import type { Caller, SiteRef } from '../caller.ts';
import type { Feedback } from './conversations.ts';
import { canBeId, newId } from '../ids.ts';
import { withTransaction } from '../pool.ts';
import { noteAnswer, noteOutcome } from './site-facts.ts';
import { toStoredJson, toStoredText } from '../stored-text.ts';

export interface Source {
  id: string;
  url: string;
  title: string;
  path: string;
}

export interface ThreadMessage {
  id: string;
  role: 'user' | 'assistant';
  content: string;
  /** The page that the reader was looking at when asking. */
  currentPath: string | null;
  sources: Source[];
  answered: boolean | null;
  /** The reader's feedback on an answer. */
  feedback: Feedback | null;
  createdAt: Date;
}

export interface Thread {
  id: string;
  siteId: string;
  createdAt: Date;
  messages: ThreadMessage[];
  /** Position of the next page; null when there is none. */
  nextAfter: string | null;
}

/** A conversation with this many messages, or bytes of text, is full and continues as a new thread. */
const mostMessages = 200;
/** Largest number of pages that an answer names as its sources, and that a conversation shows of its answers. */
export const mostSources = 100;
const mostBytes = 1_000_000;
/** Answers that may still be stored after their thread became full. */
const mostUnderWay = 50;
/** Length of the texts of one page; a page has at least one message. */
const pageBytes = 1_000_000;

/** Where in the documentation a question belongs; null where that is unknown. */
export interface AnswerPlace {
  /** Section of the documentation. */
  topic: string | null;
  version: string | null;
  language: string | null;
}

export interface RecordedTurn {
  threadId: string;
  question: { id: string; content: string; currentPath: string | null };
  answer: {
    id: string;
    content: string;
    sources: Source[];
    model: string;
    answered: boolean;
    ending: 'finished' | 'failed' | 'aborted';
    firstTokenMs: number | null;
    durationMs: number;
    costMicros: number;
    place: AnswerPlace;
  };
}

export interface ThreadStore {
  /** Returns the id when the site has the thread and it is not full, else a new id (nothing is written yet). */
  resolve(site: SiteRef, threadId: string | null): Promise<{ threadId: string; isNew: boolean }>;
  /** Creates a thread before its first answer ends, so that a client that disconnects can continue it. */
  open(site: SiteRef, thread: { threadId: string; fp: string }): Promise<void>;
  /**
   * Stores a turn of an open thread (question and answer) in one transaction; nothing when it was deleted during the
   * answer.
   */
  recordTurn(site: SiteRef, turn: RecordedTurn): Promise<void>;
  /** Returns the beginning of a thread, or what follows a position. Null when the site has no such thread. */
  get(site: SiteRef, threadId: string, page?: { after: string; limit: number }): Promise<Thread | null>;
  /** False when the site has no such thread. */
  remove(caller: Caller, siteId: string, threadId: string): Promise<boolean>;
}

/** Creates the store of conversations, which are kept for the days that their site sets. */
export function createThreadStore(pool: Pool): ThreadStore {
  async function resolve({ id, organizationId }: SiteRef, threadId: string | null) {
    const fresh = { threadId: newId('thr_'), isNew: true };
    if (threadId === null || !canBeId(threadId)) return fresh;
    const { rowCount } = await pool.query({
      name: 'find-thread',
      text: `
        select from threads where id = $1 and site_id = $2 and organization_id = $3 and (
          select count(*) < $4 and coalesce(sum(octet_length(content)), 0) < $5 from thread_messages where thread_id = $1
        )`,
      values: [threadId, id, organizationId, mostMessages, mostBytes],
    });
    return rowCount === 1 ? { threadId, isNew: false } : fresh;
  }

  async function open(
    { id, organizationId }: SiteRef,
    { threadId, fp }: { threadId: string; fp: string },
  ): Promise<void> {
    await pool.query({
      name: 'open-thread',
      text: `
        insert into threads (id, site_id, organization_id, fp)
        select $1, id, organization_id, $4 from sites where id = $2 and organization_id = $3 and retention_days > 0`,
      values: [threadId, id, organizationId, toStoredText(fp)],
    });
  }

  async function recordTurn({ id, organizationId }: SiteRef, turn: RecordedTurn): Promise<void> {
    await withTransaction(pool, async (client) => {
      const { rowCount } = await client.query({ ...holdThread, values: [turn.threadId, id, organizationId] });
      if (rowCount !== 1) return;
      await addTurn(client, turn);
      await noteOutcome(client, turn.threadId);
    });
  }

  async function get(
    { id, organizationId }: SiteRef,
    threadId: string,
    { after, limit } = { after: '0', limit: mostMessages },
  ): Promise<Thread | null> {
    if (!canBeId(threadId)) return null;
    const { rows } = await pool.query<Omit<Thread, 'messages' | 'nextAfter'>>(
      `select id, site_id as "siteId", created_at as "createdAt" from threads
       where id = $1 and site_id = $2 and organization_id = $3`,
      [threadId, id, organizationId],
    );
    const [thread] = rows;
    if (thread === undefined) return null;
    const page = await pool.query<ThreadMessage & { position: string; bytes: number }>(
      `select id, role, content, current_path as "currentPath", sources, answered, messages.created_at as "createdAt",
              position, bytes,
              case when vote is not null
                   then jsonb_build_object('vote', vote, 'reasons', reasons, 'comment', comment) end as feedback
       from (
         select *, (sum(octet_length(content)) over (order by position))::float8 as bytes
         from thread_messages where thread_id = $1 and position > $2 order by position limit $3
       ) as messages left join message_feedback
         on message_feedback.thread_id = messages.thread_id and message_id = messages.id
       where bytes - octet_length(content) < $4 order by position`,
      [threadId, after, limit, pageBytes],
    );
    const last = page.rows.at(-1);
    const isLast = last === undefined || (page.rows.length < limit && last.bytes < pageBytes);
    return {
      ...thread,
      messages: page.rows.map(({ position: _position, bytes: _bytes, ...message }) => message),
      nextAfter: isLast ? null : last.position,
    };
  }

  async function remove(caller: Caller, siteId: string, threadId: string): Promise<boolean> {
    if (!canBeId(threadId)) return false;
    return withTransaction(pool, async (client) => {
      const { rowCount } = await client.query(
        'delete from threads where id = $1 and site_id = $2 and organization_id = $3',
        [threadId, siteId, caller.organizationId],
      );
      if (rowCount !== 1) return false;
      await client.query('delete from replies where thread_id = $1', [threadId]);
      await writeAudit(client, caller, { action: 'thread.delete', subject: threadId });
      return true;
    });
  }

  return { resolve, open, recordTurn, get, remove };
}

// no row when the thread was deleted or is another site's, or when the site stores nothing any more
const holdThread = {
  name: 'hold-thread',
  text: `
    update threads set updated_at = now() from sites
    where threads.id = $1 and sites.id = $2 and sites.organization_id = $3 and retention_days > 0
      and threads.site_id = sites.id and threads.organization_id = sites.organization_id`,
};

/**
 * Stores the question and then the answer, unless the thread is full: it is counted under a lock on the thread, so that
 * concurrent answers do not exceed the limit together. A question that is answered again keeps its one row.
 */
async function addTurn(client: PoolClient, { threadId, question, answer }: RecordedTurn): Promise<void> {
  await client.query({
    name: 'add-turn',
    text: `
      with room as (
        select count(*) < $2 as fits from (select from thread_messages where thread_id = $1 limit $2) as messages
      ), added as (
        insert into thread_messages
          (thread_id, id, role, content, current_path, sources, model, answered, ending, first_token_ms, duration_ms, cost_micros,
           topic, version, language)
        select $1, turn.* from room, (values
          ($3::text, 'user', $4::text, $5::text, '[]'::jsonb, null::text, null::boolean, null::text, null::integer, null::integer,
           null::bigint, null::text, null::text, null::text),
          ($6, 'assistant', $7, null, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
        ) as turn (id, role) where fits order by role desc
        on conflict (thread_id, id) do nothing returning *
      )
      ${noteAnswer(`(select * from added where role = 'assistant')`)}`,
    values: [
      threadId,
      mostMessages + 2 * mostUnderWay,
      toStoredText(question.id),
      toStoredText(question.content),
      question.currentPath === null ? null : toStoredText(question.currentPath),
      toStoredText(answer.id),
      toStoredText(answer.content),
      toStoredJson(answer.sources),
      answer.model,
      answer.answered,
      answer.ending,
      answer.firstTokenMs === null ? null : Math.round(answer.firstTokenMs),
      Math.round(answer.durationMs),
      answer.costMicros,
      ...[answer.place.topic, answer.place.version, answer.place.language].map((name) => name && toStoredText(name)),
    ],
  });
}
