import { setTimeout as sleep } from 'node:timers/promises';
import { EventSourceParserStream, ParseError } from 'eventsource-parser/stream';
import { z } from 'zod';
import { CommandError } from '../command-error.ts';
import { ApiProblem, foreignAnswer, parseAnswer, streamOf, UnreachableError, type Api } from './api.ts';

const eventSchema = z.object({
  seq: z.number(),
  turn: z.number(),
  step: z.number().nullable(),
  type: z.string(),
  createdAt: z.string(),
  data: z
    .object({
      attempt: z.number(),
      text: z.string(),
      phase: z.string(),
      toolName: z.string(),
      input: z.unknown(),
      isError: z.boolean(),
      output: z.string(),
      changedFiles: z.number(),
      additions: z.number(),
      deletions: z.number(),
    })
    .partial()
    .loose(),
});
export type JobEvent = z.infer<typeof eventSchema>;

const maxFailures = 30;
const minPauseMs = 250;
const maxPauseMs = 10_000;

/** Longest message of a stream, in characters; a step's outputs have 512 KB at most. */
const maxMessageLength = 16_000_000;

function refuse(error: Error): void {
  if (error instanceof ParseError && error.type === 'max-buffer-size-exceeded')
    throw new CommandError(foreignAnswer, { cause: error });
}

/** Returns the messages of a stream of server-sent events. `onComment` is called for its signs of life between them. */
export function messagesIn(stream: ReadableStream<Uint8Array<ArrayBuffer>>, onComment?: () => void) {
  return stream
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream({ maxBufferSize: maxMessageLength, onError: refuse, onComment }));
}

/**
 * Yields each event of a job once, starting after `after`, until the job ends. A broken connection resumes after the
 * last event. Throws ApiProblem for an error response and UnreachableError when the server stays unreachable.
 */
export async function* followJob(
  api: Api,
  { projectId, id }: { projectId: string; id: string },
  { after = 0, onLost }: { after?: number; onLost: () => void },
): AsyncGenerator<JobEvent> {
  let last = after;
  let failures = 0;
  for (;;) {
    const before = last;
    try {
      const answer = await api.GET('/v2/agent/{projectId}/job/{id}/events', {
        params: { path: { projectId, id }, header: { 'Last-Event-ID': String(last) } },
        headers: { Accept: 'text/event-stream' },
        parseAs: 'stream',
      });
      if (answer.response.status === 204) return;
      // a stream that was silent for long has not failed: a proxy may end each one after a while
      for await (const { data } of messagesIn(await streamOf(answer), () => (failures = 0))) {
        const event = parseAnswer(eventSchema, data);
        last = event.seq;
        failures = 0;
        yield event;
      }
    } catch (error) {
      if (!isPassing(error) || failures >= maxFailures) throw error;
      if (failures === 0) onLost();
      failures += 1;
    }
    const isIdle = failures > 0 || last === before;
    await sleep(isIdle ? Math.min(minPauseMs * 2 ** failures, maxPauseMs) : 0);
  }
}

/** Reports whether the same request may succeed later. fetch reports a broken connection as a TypeError. */
function isPassing(error: unknown): boolean {
  if (error instanceof ApiProblem) return error.status === 429 || error.status >= 500;
  return error instanceof UnreachableError || error instanceof TypeError;
}
