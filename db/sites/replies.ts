import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import type { SiteRef } from '../caller.ts';
import { withTransaction } from '../pool.ts';
import { randomText } from '../random-text.ts';
import { toStoredText } from '../stored-text.ts';

export interface ReplyRow {
  id: string;
  siteId: string;
  chatId: string;
  keyId: string;
  threadId: string;
  protocol: 'v1' | 'v2';
  createdAt: Date;
  /** Seconds since the writer's last heartbeat, on database time. */
  silentSeconds: number;
  endedAt: Date | null;
  delivered: boolean;
}

type NewReply = Pick<ReplyRow, 'id' | 'siteId' | 'chatId' | 'keyId' | 'threadId' | 'protocol'>;

/** The key is public, and a chat's id may be guessed: only the token distinguishes readers. */
export interface ResumeQuery extends Pick<ReplyRow, 'chatId' | 'keyId'> {
  resumeToken: string;
}

/** Stores the bytes of running replies, so that any API process can resume one. */
interface ReadReply {
  chunks: string[];
  ended: boolean;
  silentSeconds: number;
}

const replyColumns = `
  id, site_id as "siteId", chat_id as "chatId", key_id as "keyId", thread_id as "threadId", protocol,
  created_at as "createdAt", extract(epoch from now() - heartbeat_at)::float8 as "silentSeconds", ended_at as "endedAt",
  delivered`;

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 256 bits. */
const tokenLength = 43;

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

export type ReplyStore = ReturnType<typeof createReplyStore>;

/** Creates the store of replies in progress, kept for ten minutes after their end. */
export function createReplyStore(pool: Pool) {
  /** Returns the secret that resumes the reply; only its digest is stored. */
  async function create({ id, siteId, chatId, keyId, threadId, protocol }: NewReply): Promise<string> {
    const resumeToken = randomText(base62, tokenLength);
    await pool.query(
      `insert into replies (id, site_id, chat_id, key_id, thread_id, protocol, resume_digest)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [id, siteId, toStoredText(chatId), keyId, threadId, protocol, digestOf(resumeToken)],
    );
    return resumeToken;
  }

  /**
   * Appends text at `position` (chunks count from 0) and renews the heartbeat. False when the reply has already
   * ended. Locks the reply's row, so that nothing is appended after its end. Repeating an append changes nothing.
   */
  async function append(reply: { id: string; position: number; data: string }): Promise<boolean> {
    const { rowCount } = await pool.query({
      name: 'append-reply',
      text: `
        with running as (
          update replies set heartbeat_at = now() where id = $1 and ended_at is null returning id
        )
        insert into reply_chunks (reply_id, position, data) select id, $2, $3 from running
        on conflict (reply_id, position) do update set data = excluded.data where reply_chunks.data = excluded.data`,
      values: [reply.id, reply.position, toStoredText(reply.data)],
    });
    return rowCount === 1;
  }

  /** Returns false when the reply has ended. */
  async function heartbeat(id: string): Promise<boolean> {
    const { rowCount } = await pool.query(
      'update replies set heartbeat_at = now() where id = $1 and ended_at is null',
      [id],
    );
    return rowCount === 1;
  }

  /** Ends a reply once; `tail` is appended in the same transaction. False when it had already ended. */
  async function end({ id, tail }: { id: string; tail: string | null }): Promise<boolean> {
    return withTransaction(pool, async (client) => {
      const { rowCount } = await client.query(
        `update replies set ended_at = now(), delete_after = now() + interval '10 minutes' where id = $1 and ended_at is null`,
        [id],
      );
      if (rowCount !== 1) return false;
      // a separate statement, because only now it sees an append that held the row
      if (tail !== null) {
        await client.query(
          `insert into reply_chunks (reply_id, position, data)
           select $1, coalesce(max(position) + 1, 0), $2 from reply_chunks where reply_id = $1`,
          [id, toStoredText(tail)],
        );
      }
      return true;
    });
  }

  async function markDelivered(id: string): Promise<void> {
    await pool.query('update replies set delivered = true where id = $1', [id]);
  }

  /** Returns the chat's reply for the token; null when it has been delivered. */
  async function findResumable(
    { id, organizationId }: SiteRef,
    { chatId, keyId, resumeToken }: ResumeQuery,
  ): Promise<ReplyRow | null> {
    const { rows } = await pool.query<ReplyRow>(
      `select ${replyColumns} from replies
       where site_id = $1 and chat_id = $2 and key_id = $3 and resume_digest = $5 and not delivered
         and exists (select from sites where sites.id = site_id and organization_id = $4)`,
      [id, toStoredText(chatId), keyId, organizationId, digestOf(resumeToken)],
    );
    return rows[0] ?? null;
  }

  /** One statement, so that a reply that reads as ended has all its chunks. A missing reply reads as ended. */
  async function read(id: string, fromPosition: number): Promise<ReadReply> {
    const { rows } = await pool.query<ReadReply>({
      name: 'read-reply',
      text: `
        select array(
                 select data from reply_chunks where reply_id = $1 and position >= $2 order by position
               ) as chunks,
               ended_at is not null as ended, extract(epoch from now() - heartbeat_at)::float8 as "silentSeconds"
        from replies where id = $1`,
      values: [id, fromPosition],
    });
    return rows[0] ?? { chunks: [], ended: true, silentSeconds: 0 };
  }

  return { create, append, heartbeat, end, markDelivered, findResumable, read };
}
