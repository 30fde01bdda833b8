import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { z } from 'zod';
import { maxSources } from '../../db/sites/threads.ts';
import { readerTokenHeader, type ReaderAccess } from '../access/reader-access.ts';
import type { Admission, RequestAccess } from '../access/request-access.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { clientGone } from '../http/streams/client-gone.ts';
import { defineRoute, json, type RouteRequest } from '../http/define-route.ts';
import { answerFailed } from '../http/errors.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import type { OpenAnswers } from '../http/streams/open-answers.ts';
import type { StreamOutput } from '../http/streams/stream-output.ts';
import type { ReadSite } from '../sites/site-reader.ts';
import { domain } from '../sites/site-schemas.ts';
import type { AnswerStream, ReaderQuestion } from './answer-question.ts';
import type { Answers } from './wire/assistant-parts.ts';
import { citationsSchema } from './citations/citation-schema.ts';
import { maxFollowUpLength, maxFollowUps } from './follow-ups.ts';
import { messageBodySchema, parseMessageRequest, type MessageRequest } from './message-request.ts';
import { keepAliveOf, type Protocol } from './wire/stream-encoder.ts';

export interface AssistantRouteDeps {
  admit: Admission;
  readSite: ReadSite;
  readerAccess: ReaderAccess;
  accessEnded: OpenAnswers['accessEnded'];
  addressOf: RequestAccess['addressOf'];
  acquireAnswerSlot: RequestAccess['acquireAnswerSlot'];
  answers: Answers;
  openOutput(response: ServerResponse, keepAlive: string): StreamOutput;
  logger: Logger;
}

const threadHeader = { 'X-Thread-Id': 'The conversation; send it as threadId to continue.' };
const resumeHeader = {
  'X-Resume-Token': 'With resumable: true, the secret that resumes this reply. It is sent once, to its reader.',
};

const wholeAnswer = json(
  'With stream: false, the whole answer.',
  z.object({
    threadId: z.string(),
    messageId: z.string().meta({ description: 'Identifies the answer in a rating.' }),
    text: z.string().meta({ description: 'Markdown.' }),
    sources: z.array(z.object({ id: z.string(), url: z.string(), title: z.string() })).max(maxSources),
    citations: citationsSchema,
    followUps: z
      .array(z.string().max(maxFollowUpLength))
      .max(maxFollowUps)
      .meta({ description: 'Topics of the documentation to ask about next.' }),
  }),
).content;

const question = { id: '1', role: 'user', parts: [{ type: 'text', text: 'How do I install it?' }] };

function ask<const Version extends Protocol, const Type extends string>(version: Version, type: Type, client: string) {
  return defineRoute({
    method: 'post',
    path: `/discovery/${version}/assistant/{domain}/message`,
    summary: `Asks the documentation, for clients of ${client}.`,
    key: 'assistant',
    params: { domain },
    headers: readerTokenHeader,
    body: messageBodySchema,
    example: { fp: 'anonymous', messages: [question] },
    // clients send the whole conversation, with attachments as data: URLs
    maxBytes: 4_194_304,
    responses: {
      200: {
        description: `The reply as a stream for ${client}.`,
        content: { [type]: z.string(), ...wholeAnswer },
        headers: { ...threadHeader, ...resumeHeader },
      },
    },
  });
}

const resumeParams = {
  domain,
  chatId: z.string().meta({ description: 'The id of the chat, as in the request that started the reply.' }),
};

function resumeToken(description: string) {
  return { 'X-Resume-Token': z.string().default('').meta({ description }) };
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
    params: resumeParams,
    headers: resumeToken('The token from the response to that request. Without it there is nothing to resume.'),
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

function stop<const Version extends Protocol>(version: Version) {
  return defineRoute({
    method: 'delete',
    path: `/discovery/${version}/assistant/{domain}/message/{chatId}/stream`,
    summary: 'Stops a running reply that was requested with resumable: true.',
    description: 'Without it, such a reply continues for two minutes after its reader has disconnected.',
    key: 'assistant',
    params: resumeParams,
    headers: resumeToken('The token from the response to that request. Without it there is nothing to stop.'),
    responses: { 204: { description: 'The reply is stopped, or there was none.' } },
  });
}

const v1 = ['v1', 'text/plain', 'AI SDK v4 (data stream protocol)'] as const;
const v2 = ['v2', 'text/event-stream', 'AI SDK v5 or higher (UI message stream)'] as const;

export const assistantRoutes = {
  createAssistantMessageV1: ask(...v1),
  createAssistantMessageV2: ask(...v2),
  resumeAssistantMessageV1: resume(...v1),
  resumeAssistantMessageV2: resume(...v2),
  stopAssistantMessageV1: stop('v1'),
  stopAssistantMessageV2: stop('v2'),
};

/**
 * Creates the router of the assistant. `POST …/message` answers a question as a stream and
 * `GET …/message/{chatId}/stream` resumes one (wire format, section 7).
 */
export function createAssistantRouter(deps: AssistantRouteDeps): AppRouter {
  return mountRoutes(deps.admit, assistantRoutes, {
    createAssistantMessageV1: (request) => answer(deps, 'v1', request),
    createAssistantMessageV2: (request) => answer(deps, 'v2', request),
    resumeAssistantMessageV1: (request) => resumeReply(deps, 'v1', request),
    resumeAssistantMessageV2: (request) => resumeReply(deps, 'v2', request),
    stopAssistantMessageV1: (request) => stopReply(deps, 'v1', request),
    stopAssistantMessageV2: (request) => stopReply(deps, 'v2', request),
  });
}

async function answer(
  deps: AssistantRouteDeps,
  protocol: Protocol,
  { ctx, caller, params, headers, json: readBody }: RouteRequest<typeof assistantRoutes.createAssistantMessageV1>,
): Promise<void> {
  const site = await deps.readSite(caller, params.domain);
  // checked before the body, which takes time to read
  deps.answers.assertCapacity(site);
  using _slot = deps.acquireAnswerSlot(deps.addressOf(ctx.req));
  const access = await deps.readerAccess({ caller, site, token: headers['X-Reader-Token'] });
  const request = parseMessageRequest(await readBody());
  const question = { site, access, request, accessEnded: deps.accessEnded(ctx) };
  if (!request.isStream) return sendWhole(deps, ctx, question);
  using stream = await deps.answers.answerQuestion({
    ...question,
    keyId: caller.keyId,
    protocol,
    isSdk: isSdkClient(request, ctx),
  });
  await send(deps, ctx, protocol, stream);
}

/** Sends the answer once it is complete. Throws ApiError when it was interrupted. */
async function sendWhole(deps: AssistantRouteDeps, ctx: AppContext, question: ReaderQuestion): Promise<void> {
  const { failure, sources, ...answer } = await deps.answers.answerWhole({
    ...question,
    gone: clientGone(ctx.res),
    onLength: () => {},
  });
  ctx.set('X-Thread-Id', answer.threadId);
  if (failure !== null) throw answerFailed(failure);
  ctx.body = { ...answer, sources: sources.map(({ id, url, title }) => ({ id, url, title })) };
}

async function resumeReply(
  deps: AssistantRouteDeps,
  protocol: Protocol,
  { ctx, caller, params, headers }: RouteRequest<typeof assistantRoutes.resumeAssistantMessageV1>,
): Promise<void> {
  using _slot = deps.acquireAnswerSlot(deps.addressOf(ctx.req));
  const site = await deps.readSite(caller, params.domain);
  using stream = await deps.answers.resumeReply({
    site,
    protocol,
    chatId: params.chatId,
    keyId: caller.keyId,
    resumeToken: headers['X-Resume-Token'],
  });
  if (stream === null) ctx.status = 204;
  else await send(deps, ctx, protocol, stream);
}

async function stopReply(
  deps: AssistantRouteDeps,
  protocol: Protocol,
  { caller, params, headers }: RouteRequest<typeof assistantRoutes.stopAssistantMessageV1>,
): Promise<void> {
  await deps.answers.stopReply({
    site: await deps.readSite(caller, params.domain),
    protocol,
    chatId: params.chatId,
    keyId: caller.keyId,
    resumeToken: headers['X-Resume-Token'],
  });
}

function isSdkClient({ client }: MessageRequest, ctx: AppContext): boolean {
  return (
    client.hasTrigger ||
    client.namesPartsFirst ||
    ctx.get('Origin') !== '' ||
    ctx.get('User-Agent').startsWith('ai-sdk/')
  );
}

/** Sends the response head and the stream. Once the head is sent, failures are reported inside the stream. */
async function send(deps: AssistantRouteDeps, ctx: AppContext, protocol: Protocol, stream: AnswerStream) {
  ctx.respond = false;
  ctx.res.writeHead(200, {
    ...(protocol === 'v1'
      ? { 'Content-Type': 'text/plain; charset=utf-8', 'X-Vercel-AI-Data-Stream': 'v1' }
      : { 'Content-Type': 'text/event-stream', 'X-Vercel-AI-UI-Message-Stream': 'v1' }),
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
    'X-Thread-Id': stream.threadId,
    ...(stream.resumeToken === null ? {} : { 'X-Resume-Token': stream.resumeToken }),
  });
  try {
    await stream.writeTo(deps.openOutput(ctx.res, keepAliveOf[protocol]));
  } catch (error) {
    deps.logger.error({ err: error, thread: stream.threadId }, 'a reply could not be written');
    ctx.res.destroy();
  }
}
