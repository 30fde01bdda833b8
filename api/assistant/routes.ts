import { newId } from '../../db/ids.ts';
import type { ReplyRow, ReplyStore } from '../../db/sites/replies.ts';
import type { SiteRow } from '../../db/sites/sites.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { z } from 'zod';
import type { Admission } from '../access/request-access.ts';
import { defineRoute, type RouteRequest } from '../http/define-route.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import type { Assistant } from './assistant.ts';
import { createDataStreamEncoder } from './encode-data-stream.ts';
import { createUiMessageEncoder } from './encode-ui-message-stream.ts';
import type { ScheduleFlush } from './flush-queue.ts';
import { replayReply } from './replay-reply.ts';
import { GenerationError } from './generate.ts';
import type { LoadShedder } from './load-shedder.ts';
import { messageBodySchema, parseMessageRequest } from './message-request.ts';
import type { MessageRequest } from './message-request.ts';
import type { OpenStreams } from './open-streams.ts';
import { createReplyRecorder } from './record-reply.ts';
import type { Reply, StreamEncoder } from './reply.ts';
import type { SiteIndexes } from './site-indexes.ts';
import { createStreamOutput } from '../http/stream-output.ts';
import { writeReply } from './write-reply.ts';
import { draining, overloaded, siteNotIndexed } from '../http/errors.ts';
import type { OpenAnswers } from '../http/open-answers.ts';
import type { Logger } from 'pino';
import { domain } from '../sites/site-schemas.ts';
import type { ReadSite } from '../sites/site-reader.ts';

export interface StreamTimes {
  keepAliveMs: number;
  /** How long an answer may take. */
  answerMs: number;
  /** How long a resumable reply goes on without a reader. */
  detachedMs: number;
  /** A connection that outlives the reply for so long is somebody's who read it. */
  deliveredAfterMs: number;
  /** A recorded reply without a sign of life for so long has lost its writer. */
  writerDeadSeconds: number;
  resumePollMs: number;
}

export interface AssistantRouteDeps {
  admit: Admission;
  readSite: ReadSite;
  indexes: SiteIndexes;
  assistant: Assistant;
  replies: ReplyStore;
  streams: OpenStreams;
  shedder: LoadShedder;
  scheduleFlush: ScheduleFlush;
  accessEnded: OpenAnswers['accessEnded'];
  times: StreamTimes;
  logger: Logger;
}

type Protocol = 'v1' | 'v2';

const tookTooLong = 'The answer broke off because it took too long. Please ask again.';

const accessHasEnded = 'The answer broke off because the key or the session has ended.';

const threadHeader = { 'X-Thread-Id': 'The conversation; send it as threadId to continue.' };
const resumeHeader = {
  'X-Resume-Token': 'With resumable: true, the secret that resumes this reply. It is sent once, to its reader.',
};

function ask<const Version extends Protocol, const Type extends string>(version: Version, type: Type, client: string) {
  return defineRoute({
    method: 'post',
    path: `/discovery/${version}/assistant/{domain}/message`,
    summary: `Asks the documentation, for clients of ${client}.`,
    key: 'assistant',
    params: { domain },
    body: messageBodySchema,
    // conversations arrive whole, with attachments as data: URLs
    maxBytes: 4_194_304,
    responses: {
      200: {
        description: `The reply as a stream for ${client}.`,
        content: { [type]: z.string() },
        headers: { ...threadHeader, ...resumeHeader },
      },
    },
  });
}

function resume<const Version extends Protocol, const Type extends string>(
  version: Version,
  type: Type,
  client: string,
) {
  return defineRoute({
    method: 'get',
    path: `/discovery/${version}/assistant/{domain}/message/{chatId}/stream`,
    summary: 'Resumes a running reply that was requested with resumable: true.',
    key: 'assistant',
    params: {
      domain,
      chatId: z.string().meta({ description: 'The id of the chat, as in the request that started the reply.' }),
    },
    headers: {
      'X-Resume-Token': z
        .string()
        .default('')
        .meta({ description: 'The token from the response to that request. Without it there is nothing to resume.' }),
    },
    responses: {
      200: {
        description: `The reply as a stream for ${client}.`,
        content: { [type]: z.string() },
        headers: threadHeader,
      },
      204: { description: 'There is nothing to resume.' },
    },
  });
}

const v1 = ['v1', 'text/plain', 'AI SDK v4 (data stream protocol)'] as const;
const v2 = ['v2', 'text/event-stream', 'AI SDK v5 or higher (UI message stream)'] as const;

export const assistantRoutes = {
  createAssistantMessageV1: ask(...v1),
  createAssistantMessageV2: ask(...v2),
  resumeAssistantMessageV1: resume(...v1),
  resumeAssistantMessageV2: resume(...v2),
};

/** `POST …/message` answers a question as a stream; `GET …/message/{chatId}/stream` resumes one (wire format, section 7). */
export function createAssistantRouter(deps: AssistantRouteDeps): AppRouter {
  return mountRoutes(deps.admit, assistantRoutes, {
    createAssistantMessageV1: (request) => answer(deps, 'v1', request),
    createAssistantMessageV2: (request) => answer(deps, 'v2', request),
    resumeAssistantMessageV1: (request) => resumeReply(deps, 'v1', request),
    resumeAssistantMessageV2: (request) => resumeReply(deps, 'v2', request),
  });
}

async function answer(
  deps: AssistantRouteDeps,
  protocol: Protocol,
  { ctx, caller, params, json }: RouteRequest<typeof assistantRoutes.createAssistantMessageV1>,
): Promise<void> {
  const site = await deps.readSite(caller, params.domain);
  // before the body, which costs time to read
  if (deps.streams.isDraining) throw draining();
  if (deps.shedder.isOverloaded) throw overloaded();
  const request = parseMessageRequest(await json());
  const lease = await deps.indexes.lease(site);
  if (lease === null) throw siteNotIndexed();

  const ending = new AbortController();
  const endLate = () => ending.abort(new GenerationError(tookTooLong));
  const timers = [setTimeout(endLate, deps.times.answerMs)];
  onAbort(deps.accessEnded(ctx.req), () => ending.abort(new GenerationError(accessHasEnded)));
  try {
    const reply = await deps.assistant.reply({ site, index: lease.index, request, signal: ending.signal });
    const record = await createRecord(deps, { site, keyId: caller.keyId, request, reply, protocol });
    const encoder = encoderOf(protocol, reply, request, ctx);
    writeHead(ctx, protocol, {
      'X-Thread-Id': reply.threadId,
      ...(record === null ? {} : { 'X-Resume-Token': record.resumeToken }),
    });
    const output = outputOf(deps, ctx, encoder.keepAlive);
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
    const { deliveredAfterMs } = deps.times;
    await deps.streams.run(async (shutdown) => {
      onAbort(shutdown, () => ending.abort(shutdown.reason));
      await writeReply({ reply, encoder, output, recorder, deliveredAfterMs });
    });
  } catch (error) {
    if (!ctx.res.headersSent) throw error;
    deps.logger.error({ err: error, site: site.id }, 'a reply could not be written');
    ctx.res.destroy();
  } finally {
    for (const timer of timers) clearTimeout(timer);
    ending.abort();
    lease.release();
  }
}

function onAbort(signal: AbortSignal, listener: () => void): void {
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
}

async function resumeReply(
  deps: AssistantRouteDeps,
  protocol: Protocol,
  { ctx, caller, params, headers }: RouteRequest<typeof assistantRoutes.resumeAssistantMessageV1>,
): Promise<void> {
  const site = await deps.readSite(caller, params.domain);
  const resumeToken = headers['X-Resume-Token'];
  const reply = await deps.replies.findResumable(site, { chatId: params.chatId, keyId: caller.keyId, resumeToken });
  if (reply === null || reply.protocol !== protocol) {
    ctx.status = 204;
    return;
  }
  writeHead(ctx, protocol, { 'X-Thread-Id': reply.threadId });
  const output = outputOf(deps, ctx, protocol === 'v1' ? '\n' : ': keep-alive\n\n');
  try {
    await deps.streams.run(() =>
      replayReply({
        replies: deps.replies,
        reply,
        output,
        tail: lostTail(reply),
        deadAfterSeconds: deps.times.writerDeadSeconds,
        pollMs: deps.times.resumePollMs,
        deliveredAfterMs: deps.times.deliveredAfterMs,
      }),
    );
  } catch (error) {
    deps.logger.error({ err: error, reply: reply.id }, 'a reply could not be followed');
    ctx.res.destroy();
  }
}

/** Under which id the bytes of the reply are kept, and the reader's secret; null when it cannot be resumed, or its site keeps nothing. */
async function createRecord(
  { replies }: AssistantRouteDeps,
  {
    site,
    keyId,
    request: { isResumable, chatId },
    reply: { threadId },
    protocol,
  }: { site: SiteRow; keyId: string; request: MessageRequest; reply: Reply; protocol: Protocol },
): Promise<{ id: string; resumeToken: string } | null> {
  if (!isResumable || chatId === null || site.retentionDays === 0) return null;
  const id = newId('rpl_');
  return { id, resumeToken: await replies.create({ id, siteId: site.id, chatId, keyId, threadId, protocol }) };
}

function encoderOf(protocol: Protocol, reply: Reply, { client }: MessageRequest, ctx: AppContext): StreamEncoder {
  if (protocol === 'v1') return createDataStreamEncoder({ ...reply, hasParts: client.hasParts });
  const isSdk =
    client.hasTrigger ||
    client.namesPartsFirst ||
    ctx.get('Origin') !== '' ||
    ctx.get('User-Agent').startsWith('ai-sdk/');
  return createUiMessageEncoder({ ...reply, showsThread: !isSdk });
}

/** The end of a recorded reply whose process was killed. */
function lostTail({ protocol, threadId }: Pick<ReplyRow, 'protocol' | 'threadId'>): string {
  const reply = { messageId: '', threadId, question: '', results: [] };
  const encoder =
    protocol === 'v1'
      ? createDataStreamEncoder({ ...reply, hasParts: false })
      : createUiMessageEncoder({ ...reply, showsThread: false });
  const failure = encoder.part({
    type: 'failure',
    message: 'The answer broke off because the service was interrupted. Please ask again.',
  });
  return [failure, ...encoder.close({ promptTokens: 0, completionTokens: 0 })].join('');
}

function outputOf({ times, scheduleFlush }: AssistantRouteDeps, ctx: AppContext, keepAlive: string) {
  return createStreamOutput({
    response: ctx.res,
    keepAlive,
    keepAliveMs: times.keepAliveMs,
    schedule: scheduleFlush,
  });
}

/** From here on a failure travels inside the stream. */
function writeHead(ctx: AppContext, protocol: Protocol, headers: Record<string, string>): void {
  ctx.respond = false;
  ctx.res.writeHead(200, {
    ...(protocol === 'v1'
      ? { 'Content-Type': 'text/plain; charset=utf-8', 'X-Vercel-AI-Data-Stream': 'v1' }
      : { 'Content-Type': 'text/event-stream', 'X-Vercel-AI-UI-Message-Stream': 'v1' }),
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
    ...headers,
  });
}
