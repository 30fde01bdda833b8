import type { Pool, PoolClient } from 'pg';
import type { NewJobEvent } from './event-types.ts';
import type { Idempotency, JobRow } from './jobs.ts';
import { writeAudit } from '../organizations/audit.ts';
import type { Caller } from '../caller.ts';
import { redact } from '../../lib/redaction/redactor.ts';
import { jobColumns } from './job-statements.ts';
import { withTransaction } from '../pool.ts';
import { takeAllowance, type RateLimitAnswer, type RateLimitCounter } from '../operations/rate-limits.ts';
import { onlyRow } from '../rows.ts';
import { toStoredJson, toStoredText } from '../stored-text.ts';
import { writeImages, type ImageRef, type NamedImage } from './job-images.ts';
import { wakeWatchers } from './wake-watchers.ts';

export interface NewMessage {
  jobId: string;
  prompt: string;
  /** Images of the message; none by default. */
  images?: readonly NamedImage[];
  /** Whether its turn begins by merging the base branch. */
  mergeBase?: boolean;
  /** The turn that its author has read; without it, any. */
  turn?: number;
  idempotency: Idempotency | null;
  /** Counter of the message; without it there is no limit. */
  counter?: RateLimitCounter;
}

/**
 * `joined`: the running turn reads it. `began`: it starts a new turn. `replayed`: a repetition with the same key and
 * body. `conflict`: the same key with another body. `full`: the running turn accepts no more. `outdated`: the job has a
 * newer turn than the one that was read. `unknown-turn`: it has no such turn yet. `unmergeable`: nothing can be merged into
 * the job now. `allowance` is what the message's counter has left.
 */
export type SentMessage =
  | { kind: 'joined' | 'began'; job: JobRow; allowance: RateLimitAnswer | null }
  | { kind: 'replayed'; job: JobRow }
  | { kind: 'conflict' | 'archived' | 'unknown' | 'full' | 'outdated' | 'unknown-turn' | 'unmergeable' };

/** Limits of the messages of a running turn. */
export const maxMessagesPerTurn = 100;
const maxCharactersPerTurn = 500_000;

/** Length of the beginning of a message that watchers get. */
const maxEventTextLength = 2_000;

export type JobMessageStore = ReturnType<typeof createJobMessageStore>;

/** Creates the store of messages to a job after its first prompt. */
export function createJobMessageStore(pool: Pool) {
  /** Writes the message, the job's state and, for a new turn, its start, in one transaction. Throws AllowanceError, ImagesFullError. */
  async function send(caller: Caller, message: NewMessage): Promise<SentMessage> {
    const sent = await withTransaction(pool, async (client): Promise<SentMessage> => {
      const { rows } = await client.query<JobRow>(
        `select ${jobColumns} from jobs where id = $1 and organization_id = $2 for update`,
        [message.jobId, caller.organizationId],
      );
      const [job] = rows;
      if (job === undefined) return { kind: 'unknown' };
      const earlier = await earlierRequest(client, message);
      if (earlier !== null) {
        return earlier.requestHash === message.idempotency?.requestHash
          ? { kind: 'replayed', job }
          : { kind: 'conflict' };
      }
      if (job.status === 'archived') return { kind: 'archived' };
      const problem = problemWithTurn(job, message.turn);
      if (problem !== null) return { kind: problem };
      // the turn of a waiting job is over
      const isActive = job.status === 'active' && job.phase !== 'waiting';
      const isMergeable = !isActive && job.prId !== null && (job.prState ?? 'open') === 'open';
      if (message.mergeBase === true && !isMergeable) return { kind: 'unmergeable' };
      if (isActive && !(await hasRoom(client, job, message.prompt))) return { kind: 'full' };
      await keepKey(client, message);
      const images = await writeImages(client, job.id, message.images ?? []);
      const updated = await (isActive ? join : startTurn)(client, job, message.prompt, images);
      if (message.mergeBase === true) {
        const begun = [job.id, updated.turn];
        await client.query('update job_turns set merge_base = true where job_id = $1 and turn = $2', begun);
      }
      await writeAudit(client, caller, { action: 'job.message', subject: job.id, details: { turn: updated.turn } });
      const allowance = message.counter === undefined ? null : await takeAllowance(client, message.counter);
      return { kind: isActive ? 'joined' : 'began', job: updated, allowance };
    });
    if (sent.kind === 'joined' || sent.kind === 'began') wakeWatchers(pool, message.jobId);
    return sent;
  }

  return { send };
}

/** Returns why a turn that was read is not the newest one; null if it is, or if none is named. */
export function problemWithTurn(job: JobRow, turn = job.turn): 'outdated' | 'unknown-turn' | null {
  if (turn === job.turn) return null;
  return turn < job.turn ? 'outdated' : 'unknown-turn';
}

/** Reports whether the running turn accepts one more message; each call of its model reads all of them. */
async function hasRoom(client: PoolClient, { id, turn }: JobRow, prompt: string): Promise<boolean> {
  const { rows } = await client.query<{ fits: boolean }>(
    `select count(*) < $3 and coalesce(sum(length(prompt)), 0) + $4 <= $5 as fits
     from job_messages where job_id = $1 and turn = $2`,
    [id, turn, maxMessagesPerTurn, prompt.length, maxCharactersPerTurn],
  );
  return onlyRow(rows).fits;
}

async function earlierRequest(client: PoolClient, { jobId, idempotency }: NewMessage) {
  if (idempotency === null) return null;
  const { rows } = await client.query<{ requestHash: string }>(
    'select request_hash as "requestHash" from job_message_keys where job_id = $1 and key = $2',
    [jobId, idempotency.key],
  );
  return rows[0] ?? null;
}

async function keepKey(client: PoolClient, { jobId, idempotency }: NewMessage): Promise<void> {
  if (idempotency === null) return;
  await client.query('insert into job_message_keys (job_id, key, request_hash) values ($1, $2, $3)', [
    jobId,
    idempotency.key,
    idempotency.requestHash,
  ]);
}

async function join(client: PoolClient, { id, turn }: JobRow, prompt: string, images: ImageRef[]): Promise<JobRow> {
  await client.query(
    `insert into job_messages (job_id, turn, position, prompt, images)
     select $1, $2, coalesce(max(position), 0) + 1, $3, $4 from job_messages where job_id = $1 and turn = $2`,
    [id, turn, toStoredText(prompt), toStoredJson(images)],
  );
  const { rows } = await client.query<JobRow>(
    `with updated as (
       update jobs set waiting_messages = waiting_messages + 1, updated_at = now() where id = $1 returning *
     )
     select ${jobColumns} from updated, append_job_events(updated.id, updated.turn, null, $2)`,
    [id, toStoredJson([messageEvent(prompt)])],
  );
  return onlyRow(rows);
}

/** Starts the next turn of a locked job, in the transaction of the change that requests it. */
export async function startTurn(
  client: PoolClient,
  { id, turn }: JobRow,
  prompt: string,
  images: ImageRef[] = [],
): Promise<JobRow> {
  const next = [id, turn + 1];
  await client.query('insert into job_turns (job_id, turn, prompt, images) values ($1, $2, $3, $4)', [
    ...next,
    toStoredText(prompt),
    toStoredJson(images),
  ]);
  await client.query('insert into job_outbox (job_id, turn) values ($1, $2)', next);
  const { rows } = await client.query<JobRow>(
    `with begun as (
       update jobs
       set status = 'active', phase = 'queued', turn = $2, message = null, failure_category = null, ended_at = null,
           waiting_messages = 0, question = null, wait_since = null, wait_until = null, updated_at = now()
       where id = $1 returning *
     )
     select ${jobColumns}
     from begun, append_job_events(begun.id, begun.turn, null, $3)`,
    [...next, toStoredJson([messageEvent(prompt), { type: 'phase', data: { phase: 'queued' } }])],
  );
  return onlyRow(rows);
}

/** Returns the part of a message that watchers see, redacted before it is truncated. */
export function messageEvent(prompt: string): NewJobEvent {
  return {
    type: 'message',
    data: {
      text: redact(prompt.slice(0, 4 * maxEventTextLength), []).slice(0, maxEventTextLength),
      characters: prompt.length,
    },
  };
}
