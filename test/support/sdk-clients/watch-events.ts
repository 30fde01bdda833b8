import type { PublicJobEvent } from '../../../api/jobs/job-schemas.ts';

export interface WatchRequest {
  /** Address of `GET …/events`. */
  url: string;
  key: string;
  lastEventId?: number;
  signal?: AbortSignal;
}

export function openEvents({ url, key, lastEventId, signal }: WatchRequest): Promise<Response> {
  return fetch(url, {
    signal,
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }),
    },
  });
}

/** Yields the events of a stream like a client of server-sent events. */
export async function* watchEvents(request: WatchRequest): AsyncGenerator<PublicJobEvent> {
  const response = await openEvents(request);
  if (response.headers.get('content-type') !== 'text/event-stream; charset=utf-8')
    throw new Error(`No stream of events but ${response.status}: ${await response.text()}`);
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      );
      const data = fields.get('data');
      if (data === undefined) continue;
      const event = JSON.parse(data) as PublicJobEvent;
      if (fields.get('id') !== String(event.seq) || fields.get('event') !== event.type)
        throw new Error(`The fields and the data of an event differ: ${block}`);
      yield event;
    }
  }
}
