import { EventSourceParserStream } from 'eventsource-parser/stream';
import { useEffect, useEffectEvent, useState } from 'react';

export interface StreamEvent {
  id?: string | undefined;
  event?: string | undefined;
  data: string;
}

export type Connection = 'connecting' | 'live' | 'lost' | 'ended';

interface ReadOptions {
  url: string;
  lastId: string | null;
  signal: AbortSignal;
  onEvents(events: StreamEvent[]): void;
  onConnection(state: Connection): void;
}

/** Reads an event stream until it says that it has ended (204), and comes back behind the last event when it was cut off. */
async function readEvents({ url, lastId, signal, onEvents, onConnection }: ReadOptions): Promise<void> {
  let last = lastId;
  let failures = 0;
  while (!signal.aborted) {
    try {
      const headers = { Accept: 'text/event-stream', ...(last === null ? {} : { 'Last-Event-ID': last }) };
      const response = await fetch(url, { headers, signal, cache: 'no-store' });
      if (response.status === 204) return onConnection('ended');
      if (response.status === 401 || response.status === 404) return onConnection('lost');
      if (!response.ok || response.body === null) throw new Error(`The stream responded with ${response.status}.`);
      failures = 0;
      onConnection('live');
      const reader = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
      last = (await readAll(reader, onEvents)) ?? last;
    } catch {
      if (signal.aborted) return;
    }
    onConnection('lost');
    failures += 1;
    await pause(Math.min(500 * 2 ** failures, 10_000), signal);
  }
}

/** Hands events on in batches, one a frame, so that a burst is one rendering. */
async function readAll(
  stream: ReadableStream<StreamEvent>,
  onEvents: (events: StreamEvent[]) => void,
): Promise<string | null> {
  let last: string | null = null;
  let waiting: StreamEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;
  const flush = () => {
    timer = null;
    const events = waiting;
    waiting = [];
    if (events.length > 0) onEvents(events);
  };
  const reader = stream.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return last;
      last = value.id ?? last;
      waiting.push(value);
      timer ??= setTimeout(flush, 50);
    }
  } catch {
    return last;
  } finally {
    if (timer !== null) clearTimeout(timer);
    flush();
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}

/** Follows an event stream while the component is shown; null follows nothing. */
export function useStream(
  url: string | null,
  onEvents: (events: StreamEvent[]) => void,
  lastId: string | null = null,
): Connection {
  const [connection, setConnection] = useState<Connection>('connecting');
  const take = useEffectEvent(onEvents);
  const begin = useEffectEvent((target: string, signal: AbortSignal) =>
    readEvents({ url: target, lastId, signal, onEvents: take, onConnection: setConnection }),
  );
  useEffect(() => {
    if (url === null) return undefined;
    const ending = new AbortController();
    setConnection('connecting');
    void begin(url, ending.signal);
    return () => ending.abort();
  }, [url]);
  return connection;
}
