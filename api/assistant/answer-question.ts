import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { newId } from '../../db/ids.ts';
import type { ReplyStore } from '../../db/sites/replies.ts';
import type { SiteRow } from '../../db/sites/sites.ts';
import { siteNotIndexed } from '../http/errors.ts';
import type { StreamOutput } from '../http/stream-output.ts';
import type { Assistant } from './assistant.ts';
import { GenerationError } from './generate.ts';
import type { MessageRequest } from './message-request.ts';
import type { OpenStreams } from './open-streams.ts';
import { createReplyRecorder, type ReplyRecorder } from './record-reply.ts';
import { closePauseMs, type Reply, type StreamEncoder } from './reply.ts';
import type { SiteIndexes } from './site-indexes.ts';
import { createStreamEncoder, lostTail, type Protocol } from './stream-encoder.ts';

export interface AnswerTimes {
  /** Maximum duration of an answer. */
  answerMs: number;
  /** Time a resumable reply continues after its reader disconnects. */
  detachedMs: number;
  /** Time a connection must stay open after the reply has ended for the reply to count as delivered. */
  deliveredAfterMs: number;
}

export interface AnswerQuestionDeps {
  indexes: SiteIndexes;
  assistant: Assistant;
  replies: ReplyStore;
  streams: OpenStreams;
  times: AnswerTimes;
  logger: Logger;
}

export interface Question {
  site: SiteRow;
  keyId: string;
  request: MessageRequest;
  protocol: Protocol;
  /** Whether the client is an AI SDK. */
  isSdk: boolean;
  /** Aborts when the reader's key or session ends. */
  accessEnded: AbortSignal;
}

/** An answer that is ready to be written. Disposing it ends the answer and releases its index. */
export interface AnswerStream extends Disposable {
  threadId: string;
  /** The reader's secret for resuming the reply; null when it cannot be resumed. */
  resumeToken: string | null;
  /** Writes the answer and ends the output. Model failures are reported in the stream; any other error rejects. */
  writeTo(output: StreamOutput): Promise<void>;
}

const tookTooLong = 'The answer broke off because it took too long. Please ask again.';

const accessHasEnded = 'The answer broke off because the key or the session has ended.';

/** Prepares an answer; the model is called when it is written. Throws ApiError when the site has no index. */
export async function answerQuestion(deps: AnswerQuestionDeps, question: Question): Promise<AnswerStream> {
  const { site, request, protocol, isSdk } = question;
  const lease = await deps.indexes.lease(site);
  if (lease === null) throw siteNotIndexed();
  const ending = new AbortController();
  const endLate = () => ending.abort(new GenerationError(tookTooLong));
  const timers = [setTimeout(endLate, deps.times.answerMs)];
  onAbort(question.accessEnded, () => ending.abort(new GenerationError(accessHasEnded)));

  const release = () => {
    for (const timer of timers) clearTimeout(timer);
    ending.abort();
    lease.release();
  };

  try {
    const reply = await deps.assistant.reply({ site, index: lease.index, request, signal: ending.signal });
    const record = await createRecord(deps, question, reply);
    const encoder = createStreamEncoder(protocol, reply, { hasParts: request.client.hasParts, isSdk });
    return {
      threadId: reply.threadId,
      resumeToken: record?.resumeToken ?? null,
      async writeTo(output) {
        using recorder =
          record === null
            ? null
            : createReplyRecorder({
                replies: deps.replies,
                id: record.id,
                logger: deps.logger,
                send: output.write,
                tail: lostTail({ protocol, threadId: reply.threadId }),
                onTakenOver: () => ending.abort(),
              });
        onAbort(output.gone, () => {
          if (recorder === null) ending.abort();
          else timers.push(setTimeout(endLate, deps.times.detachedMs));
        });
        await deps.streams.run(async (shutdown) => {
          onAbort(shutdown, () => ending.abort(shutdown.reason));
          await writeReply({ reply, encoder, output, recorder, deliveredAfterMs: deps.times.deliveredAfterMs });
        });
      },
      [Symbol.dispose]: release,
    };
  } catch (error) {
    release();
    throw error;
  }
}

function onAbort(signal: AbortSignal, listener: () => void): void {
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
}

/** Creates the reply's record. Returns null when the reply is not resumable or its site stores nothing. */
async function createRecord(
  { replies }: AnswerQuestionDeps,
  { site, keyId, request: { isResumable, chatId }, protocol }: Question,
  { threadId }: Reply,
): Promise<{ id: string; resumeToken: string } | null> {
  if (!isResumable || chatId === null || site.retentionDays === 0) return null;
  const id = newId('rpl_');
  return { id, resumeToken: await replies.create({ id, siteId: site.id, chatId, keyId, threadId, protocol }) };
}

interface WriteOptions {
  reply: Reply;
  encoder: StreamEncoder;
  output: StreamOutput;
  recorder: ReplyRecorder | null;
  deliveredAfterMs: number;
}

/**
 * Writes a reply to its reader, through the recorder if there is one. When the reader disconnects, an unrecorded reply
 * ends and a recorded one continues so that it can be resumed. A disconnect never makes this throw.
 */
async function writeReply({ reply, encoder, output, recorder, deliveredAfterMs }: WriteOptions): Promise<void> {
  const emit = recorder === null ? output.write : recorder.append;

  emit(encoder.open());
  await reply.run((part) => {
    emit(encoder.part(part));
    return output.blocked();
  });
  if (output.gone.aborted && recorder === null) return;

  const [first = '', ...others] = encoder.close(reply.usage());
  emit(first);
  for (const piece of others) {
    await recorder?.flush();
    await sleep(closePauseMs);
    emit(piece);
  }
  await recorder?.end();
  const wasTaken = await output.end();
  if (recorder !== null && wasTaken && (await output.outlived(deliveredAfterMs))) await recorder.delivered();
}
