import type { AppContext } from '../app-context.ts';
import { createStreamOutput, type StreamOutput } from './stream-output.ts';

export interface EventStreamTimes {
  keepAliveMs: number;
}

/** Starts a response of server-sent events. From here on a failure ends the stream, and the client reconnects. */
export function openEventStream(ctx: AppContext, { keepAliveMs }: EventStreamTimes): StreamOutput {
  ctx.respond = false;
  ctx.res.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
  });
  const output = createStreamOutput({
    response: ctx.res,
    keepAlive: ': keep-alive\n\n',
    keepAliveMs,
  });
  output.write('retry: 1000\n\n');
  return output;
}

/** Returns the text of a server-sent event. Its id is what a client sends back as `Last-Event-ID`. */
export function serverSentEvent({
  id,
  type,
  data,
}: {
  id: number | bigint | string;
  type: string;
  data: object;
}): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
