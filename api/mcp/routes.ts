import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { readerTokenHeader, type ReaderAccess } from '../access/reader-access.ts';
import type { RequestAccess } from '../access/request-access.ts';
import { keepAliveOf } from '../assistant/wire/stream-encoder.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { clientGone } from '../http/streams/client-gone.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { ApiError } from '../http/errors.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import type { StreamOutput } from '../http/streams/stream-output.ts';
import type { ReadSite } from '../sites/site-reader.ts';
import { domain } from '../sites/site-schemas.ts';
import type { AnswerMcp } from './answer-message.ts';

const messageSchema = z.looseObject({
  jsonrpc: z.literal('2.0'),
  method: z.string().max(200),
  id: z.union([z.string().max(200), z.int()]).optional(),
  params: z.looseObject({}).optional(),
});

const answer = json('The response.', z.looseObject({ jsonrpc: z.literal('2.0') }));

export const mcpRoutes = {
  callMcp: defineRoute({
    method: 'post',
    path: '/mcp/{domain}',
    summary: 'Serves a documentation site over the Model Context Protocol (streamable HTTP, without sessions).',
    description: 'With Accept: text/event-stream the response is a stream, with the progress of an answer.',
    key: 'assistant',
    params: { domain },
    headers: { ...readerTokenHeader, 'MCP-Protocol-Version': z.string().max(200).optional() },
    body: messageSchema,
    maxBytes: 256 * 1024,
    responses: {
      200: { ...answer, content: { ...answer.content, 'text/event-stream': z.string() } },
      202: { description: 'The notification was received.' },
    },
  }),
};

export interface McpRouteDeps {
  answerMessage: AnswerMcp;
  admit: RequestAccess['admit'];
  addressOf: RequestAccess['addressOf'];
  accessEnded: RequestAccess['accessEnded'];
  readSite: ReadSite;
  readerAccess: ReaderAccess;
  openOutput(response: ServerResponse, keepAlive: string): StreamOutput;
}

export function createMcpRouter(deps: McpRouteDeps): AppRouter {
  return mountRoutes(deps.admit, mcpRoutes, {
    async callMcp({ ctx, caller, params, headers, body }) {
      const site = await deps.readSite(caller, params.domain);
      const access = await deps.readerAccess({ caller, site, token: headers['X-Reader-Token'] });
      const message = await body();
      await deps.answerMessage(message, {
        reader: { site, access },
        address: deps.addressOf(ctx.req),
        accessEnded: deps.accessEnded(ctx),
        gone: clientGone(ctx.res),
        protocolVersion: headers['MCP-Protocol-Version'],
        isStream: ctx.get('Accept').includes('text/event-stream'),
        send: (response) => send(ctx, response, deps.openOutput),
      });
    },
  });
}

const refusalSchema = z.object({ error: z.object({ message: z.string() }) });

/** Sends the transport's response. Its refusals become errors in the form of all others. */
async function send(ctx: AppContext, response: Response, openOutput: McpRouteDeps['openOutput']): Promise<void> {
  const { status, body, headers } = response;
  if (status >= 400) throw new ApiError(status, refusalSchema.parse(await response.json()).error.message);
  if (body !== null && headers.get('content-type') === 'text/event-stream') return sendEvents(ctx, body, openOutput);
  ctx.status = status;
  ctx.body = await response.text();
  if (body !== null) ctx.type = 'application/json';
}

async function sendEvents(
  ctx: AppContext,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  openOutput: McpRouteDeps['openOutput'],
): Promise<void> {
  ctx.respond = false;
  ctx.res.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
  });
  const output = openOutput(ctx.res, keepAliveOf.v2);
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    output.write(text);
    await output.blocked();
  }
  await output.end();
}
