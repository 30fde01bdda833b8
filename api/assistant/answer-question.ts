import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { newId } from '../../db/ids.ts';
import type { ReplyStore } from '../../db/sites/replies.ts';
import type { SiteRow } from '../../db/sites/sites.ts';
import type { PageAccess } from '../../search/query/page-access.ts';
import type { Source } from '../../db/sites/threads.ts';
import { siteNotIndexed } from '../http/errors.ts';
import type { StreamOutput } from '../http/streams/stream-output.ts';
import type { Assistant } from './assistant.ts';
import type { Citation } from './citations/citations.ts';
import { GenerationError } from './generate.ts';
import type { MessageRequest } from './message-request.ts';
import type { OpenStreams } from './open-streams.ts';
import { createReplyRecorder, type ReplyRecorder } from './record-reply.ts';
import { closePauseMs, type Reply, type StreamEncoder } from './reply.ts';
import type { SiteIndexes } from './site-indexes.ts';
import { createStreamEncoder, lostTail, type Protocol } from './wire/stream-encoder.ts';

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

/** A question of a reader, whose answer may be streamed or delivered whole. */
export interface ReaderQuestion {
  site: SiteRow;
  /** The pages that the reader may read. */
  access: PageAccess;
  request: MessageRequest;
  /** Aborts when the reader's key or session ends. */
  accessEnded: AbortSignal;
}

export interface StreamedQuestion extends ReaderQuestion {
  keyId: string;
  protocol: Protocol;
  /** Whether the client is an AI SDK. */
  isSdk: boolean;
}

/** An answer that is ready to be written. Disposing it ends the answer and releases its index. */
export interface AnswerStream extends Disposable {
  threadId: string;
  /** The reader's secret for resuming the reply; null when it cannot be resumed. */
  resumeToken: string | null;
  /** Writes the answer and ends the output. Model failures are reported in the stream; any other error rejects. */
  writeTo(output: StreamOutput): Promise<void>;
}

// without a reason, each answer would make an error with a stack trace
const hasEnded = new Error('The answer has ended.');

const tookTooLong = 'The answer timed out. Ask again.';

const accessHasEnded = 'The answer was interrupted because the API key or the session is no longer valid.';

/** Prepares an answer; the model is called when it is written. Throws ApiError when the site has no index. */
export async function answerQuestion(deps: AnswerQuestionDeps, question: StreamedQuestion): Promise<AnswerStream> {
  const { request, protocol, isSdk } = question;
  const answer = await startAnswer(deps, question);
  const { reply } = answer;
  try {
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
                onTakenOver: answer.end,
              });
        onAbort(output.gone, () => {
          if (recorder === null) answer.end();
          else answer.endIn(deps.times.detachedMs);
        });
        await answer.run(() =>
          writeReply({ reply, encoder, output, recorder, deliveredAfterMs: deps.times.deliveredAfterMs }),
        );
      },
      [Symbol.dispose]: answer[Symbol.dispose],
    };
  } catch (error) {
    answer[Symbol.dispose]();
    throw error;
  }
}

/** An answer that is delivered whole. */
export interface WholeAnswer {
  threadId: string;
  messageId: string;
  text: string;
  sources: Source[];
  citations: Citation[];
  /** Topics to ask about next. */
  followUps: string[];
  /** Why the answer was interrupted; null when it was not. */
  failure: string | null;
}

/**
 * Answers a question for a reader that takes the answer as a whole, and reports the length of its text as it grows.
 * The answer ends when the reader is gone. Throws ApiError when the site has no index.
 */
export async function answerWhole(
  deps: Pick<AnswerQuestionDeps, 'indexes' | 'assistant' | 'streams' | 'times'>,
  { gone, onLength, ...question }: ReaderQuestion & { gone: AbortSignal; onLength(length: number): void },
): Promise<WholeAnswer> {
  using answer = await startAnswer(deps, question);
  const { reply } = answer;
  const whole: WholeAnswer = {
    threadId: reply.threadId,
    messageId: reply.messageId,
    text: '',
    sources: [],
    citations: [],
    followUps: [],
    failure: null,
  };
  onAbort(gone, answer.end);
  await answer.run(() =>
    reply.run((part) => {
      if (part.type === 'source') whole.sources.push(part.source);
      else if (part.type === 'citations') whole.citations = part.citations;
      else if (part.type === 'follow-ups') whole.followUps = part.questions;
      else if (part.type === 'failure') whole.failure = part.message;
      else onLength((whole.text += part.text).length);
      return null;
    }),
  );
  return whole;
}

/** An answer whose index is leased and whose passages are retrieved. Disposing it ends it. */
interface StartedAnswer extends Disposable {
  reply: Reply;
  end(): void;
  /** Ends the answer as timed out if it takes longer. */
  endIn(ms: number): void;
  /** Runs the delivery of the answer, for which a shutdown waits. */
  run(deliver: () => Promise<void>): Promise<void>;
}

async function startAnswer(
  { indexes, assistant, streams, times }: Pick<AnswerQuestionDeps, 'indexes' | 'assistant' | 'streams' | 'times'>,
  { site, access, request, accessEnded }: ReaderQuestion,
): Promise<StartedAnswer> {
  const lease = await indexes.lease(site, access);
  if (lease === null) throw siteNotIndexed();
  const ending = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const end = () => ending.abort(hasEnded);
  const endIn = (ms: number) => {
    timers.push(setTimeout(() => ending.abort(new GenerationError(tookTooLong)), ms));
  };
  endIn(times.answerMs);
  onAbort(accessEnded, () => ending.abort(new GenerationError(accessHasEnded)));

  const release = () => {
    for (const timer of timers) clearTimeout(timer);
    end();
    lease.release();
  };

  try {
    const reply = await assistant.reply({ site, index: lease.index, request, signal: ending.signal });
    return {
      reply,
      end,
      endIn,
      run: (deliver) =>
        streams.run(site.organizationId, async (shutdown) => {
          onAbort(shutdown, () => ending.abort(shutdown.reason));
          await deliver();
        }),
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
  { site, keyId, request: { isResumable, chatId }, protocol }: StreamedQuestion,
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
  for (const chunk of others) {
    await recorder?.flush();
    await sleep(closePauseMs);
    emit(chunk);
  }
  await recorder?.end();
  const wasTaken = await output.end();
  if (recorder !== null && wasTaken && (await output.outlived(deliveredAfterMs))) await recorder.delivered();
}
