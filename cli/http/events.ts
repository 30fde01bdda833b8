import { setTimeout as sleep } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { z } from 'zod';
import { ApiProblem, parseAnswer, streamOf, UnreachableError, type Api } from './api.ts';

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

const mostFailures = 30;
const shortestPauseMs = 250;
const longestPauseMs = 10_000;

/** The messages of a stream of server-sent events. */
export function messagesIn(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
  return stream.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
}

/**
 * The events of a job, each once, from the one after `after` until the job has ended. A connection that breaks off is made
 * again where it was. Throws ApiProblem for a refusal, UnreachableError when the server stays away.
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
      for await (const { data } of messagesIn(await streamOf(answer))) {
        const event = parseAnswer(eventSchema, data);
        last = event.seq;
        failures = 0;
        yield event;
      }
    } catch (error) {
      if (!isPassing(error) || failures >= mostFailures) throw error;
      if (failures === 0) onLost();
      failures += 1;
    }
    const isIdle = failures > 0 || last === before;
    await sleep(isIdle ? Math.min(shortestPauseMs * 2 ** failures, longestPauseMs) : 0);
  }
}

/** Whether the same request may succeed later. A connection that breaks off is a TypeError of fetch. */
function isPassing(error: unknown): boolean {
  if (error instanceof ApiProblem) return error.status === 429 || error.status >= 500;
  return error instanceof UnreachableError || error instanceof TypeError;
}
