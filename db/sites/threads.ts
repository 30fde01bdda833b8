import type { Pool } from 'pg';
import { writeAudit } from '../organizations/audit.ts';
import type { Caller, SiteRef } from '../caller.ts';
import type { Feedback } from './conversations.ts';
import { canBeId, newId } from '../ids.ts';
import { withTransaction } from '../pool.ts';
import { ownFingerprints } from './site-facts.ts';
import { toStoredJson, toStoredText } from '../stored-text.ts';

export interface Source {
  id: string;
  url: string;
  title: string;
  path: string;
}

interface ThreadMessage {
  id: string;
  role: 'user' | 'assistant';
  content: string;
  /** The page that the reader was looking at when asking. */
  currentPath: string | null;
  /** The query that was searched for in its place; null if it was searched for as it is, and for an answer. */
  searchQuery: string | null;
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
const maxMessages = 200;
/** Largest number of pages that an answer names as its sources, and that a conversation shows of its answers. */
export const maxSources = 100;
const maxBytes = 1_000_000;
/** Answers that may still be stored after their thread became full. */
const maxInProgress = 50;
/** Length of the texts of one page; a page has at least one message. */
const pageBytes = 1_000_000;

/** Where in the documentation a question belongs; null where that is unknown. */
export interface DocsLocation {
  /** Section of the documentation. */
  topic: string | null;
  version: string | null;
  language: string | null;
}

export interface RecordedTurn {
  threadId: string;
  question: { id: string; content: string; currentPath: string | null; searchQuery: string | null };
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
    location: DocsLocation;
  };
}

export type ThreadStore = ReturnType<typeof createThreadStore>;

/** Creates the store of conversations, which are kept for the days that their site sets. */
export function createThreadStore(pool: Pool) {
  /** Returns the id when the site has the thread and it is not full, else a new id (nothing is written yet). */
  async function resolve(
    { id, organizationId }: SiteRef,
    threadId: string | null,
  ): Promise<{ threadId: string; isNew: boolean }> {
    const fresh = { threadId: newId('thr_'), isNew: true };
    if (threadId === null || !canBeId(threadId)) return fresh;
    const { rowCount } = await pool.query({
      name: 'find-thread',
      text: `
        select from threads where id = $1 and site_id = $2 and organization_id = $3 and (
          select count(*) < $4 and coalesce(sum(octet_length(content)), 0) < $5 from thread_messages where thread_id = $1
        )`,
      values: [threadId, id, organizationId, maxMessages, maxBytes],
    });
    return rowCount === 1 ? { threadId, isNew: false } : fresh;
  }

  /** Creates a thread before its first answer ends, so that a client that disconnects can continue it. */
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

  /**
   * Stores a turn of an open thread (question and answer) in one transaction; nothing when it was deleted during the
   * answer, or is full: that is decided under a lock on the thread, so that concurrent answers do not exceed the limit
   * together.
   */
  async function recordTurn(
    { id, organizationId }: SiteRef,
    { threadId, question, answer }: RecordedTurn,
  ): Promise<void> {
    const { firstTokenMs, durationMs, costMicros, location, ...rest } = answer;
    const messages = [
      {
        role: 'user',
        id: question.id,
        content: question.content,
        current_path: question.currentPath,
        search_query: question.searchQuery,
      },
      {
        role: 'assistant',
        ...rest,
        first_token_ms: firstTokenMs === null ? null : Math.round(firstTokenMs),
        duration_ms: Math.round(durationMs),
        cost_micros: costMicros,
        ...location,
      },
    ];
    await pool.query({
      name: 'record-turn',
      text: 'select record_turn($1, $2, $3, $4, $5, $6)',
      values: [threadId, id, organizationId, toStoredJson(messages), maxMessages + 2 * maxInProgress, ownFingerprints],
    });
  }

  /** Returns the beginning of a thread, or what follows a position. Null when the site has no such thread. */
  async function get(
    { id, organizationId }: SiteRef,
    threadId: string,
    { after, limit }: { after: string; limit: number } = { after: '0', limit: maxMessages },
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
      `select id, role, content, current_path as "currentPath", search_query as "searchQuery", sources, answered, messages.created_at as "createdAt",
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

  /** False when the site has no such thread. */
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
