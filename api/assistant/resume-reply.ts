import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplyRow, ReplyStore, ResumeQuery } from '../../db/sites/replies.ts';
import type { SiteRow } from '../../db/sites/sites.ts';
import type { StreamOutput } from '../http/streams/stream-output.ts';
import type { AnswerStream } from './answer-question.ts';
import type { OpenStreams } from './open-streams.ts';
import { lostTail, stoppedTail, type Protocol } from './wire/stream-encoder.ts';

export interface ResumeTimes {
  /** Time a connection must stay open after the reply has ended for the reply to count as delivered. */
  deliveredAfterMs: number;
  /** Time without a heartbeat after which the writer of a recorded reply counts as dead. */
  writerDeadSeconds: number;
  resumePollMs: number;
}

export interface ResumeReplyDeps {
  replies: ReplyStore;
  streams: OpenStreams;
  times: ResumeTimes;
}

export interface ResumeRequest extends ResumeQuery {
  site: SiteRow;
  protocol: Protocol;
}

/** Returns the reply that the reader may resume in this protocol, or null when there is none. */
export async function resumeReply(
  deps: ResumeReplyDeps,
  { site, protocol, ...query }: ResumeRequest,
): Promise<AnswerStream | null> {
  const reply = await deps.replies.findResumable(site, query);
  if (reply === null || reply.protocol !== protocol) return null;
  return {
    threadId: reply.threadId,
    resumeToken: null,
    writeTo: (output) => deps.streams.run(site.organizationId, () => replay(deps, reply, output)),
    [Symbol.dispose]: () => {},
  };
}

/**
 * Ends the stored reply for everyone who is reading it. The process that generates the answer notices and stops it. Does
 * nothing if there is no such reply.
 */
export async function stopReply(
  { replies }: Pick<ResumeReplyDeps, 'replies'>,
  { site, protocol, ...query }: ResumeRequest,
): Promise<void> {
  const reply = await replies.findResumable(site, query);
  if (reply === null || reply.protocol !== protocol) return;
  await replies.end({ id: reply.id, tail: stoppedTail(reply) });
  await replies.markDelivered(reply.id);
}

/**
 * Sends a recorded reply from its first byte and follows it to its end; any process can do so. If the reply's writer
 * has died, the record is ended here, once for all its followers.
 */
async function replay({ replies, times }: ResumeReplyDeps, reply: ReplyRow, output: StreamOutput): Promise<void> {
  let position = 0;
  while (!output.gone.aborted) {
    const { chunks, ended, silentSeconds } = await replies.read(reply.id, position);
    for (const chunk of chunks) output.write(chunk);
    position += chunks.length;
    const blocked = output.blocked();
    if (blocked !== null) await blocked;
    if (ended) {
      const wasTaken = await output.end();
      if (wasTaken && (await output.outlived(times.deliveredAfterMs))) await replies.markDelivered(reply.id);
      return;
    }
    if (silentSeconds > times.writerDeadSeconds) {
      await replies.end({ id: reply.id, tail: lostTail(reply) });
      continue;
    }
    if (chunks.length === 0) await sleep(times.resumePollMs);
  }
}
