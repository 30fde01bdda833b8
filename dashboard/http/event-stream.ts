import { EventSourceParserStream } from 'eventsource-parser/stream';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { noteReached } from './reachable.ts';

export interface StreamEvent {
  id?: string | undefined;
  event?: string | undefined;
  data: string;
}

export type Connection = 'connecting' | 'live' | 'lost' | 'ended';

/** Number of the last event that was read, which a later connection continues after. */
export interface Position {
  url: string;
  lastId: string | null;
}

interface ReadOptions {
  position: Position;
  signal: AbortSignal;
  onEvents(events: StreamEvent[]): void;
  onConnection(state: Connection): void;
}

/** Reads an event stream until it reports its end (204). A broken connection resumes after the last event. */
export async function readEvents({ position, signal, onEvents, onConnection }: ReadOptions): Promise<void> {
  const { url } = position;
  let failures = 0;
  while (!signal.aborted) {
    try {
      const { lastId } = position;
      const headers = { Accept: 'text/event-stream', ...(lastId === null ? {} : { 'Last-Event-ID': lastId }) };
      const response = await fetch(url, { headers, signal, cache: 'no-store' });
      if (response.status === 204) return onConnection('ended');
      if (response.status === 401 || response.status === 404) return onConnection('lost');
      if (!response.ok || response.body === null) throw new Error(`The stream responded with ${response.status}.`);
      failures = 0;
      noteReached(true);
      onConnection('live');
      const reader = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
      await readAll(reader, position, onEvents);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof TypeError) noteReached(false);
    }
    onConnection('lost');
    failures += 1;
    await pause(Math.min(500 * 2 ** failures, 10_000), signal);
  }
}

/** Delivers events in batches, one per frame, so that a burst causes one rendering. */
async function readAll(
  stream: ReadableStream<StreamEvent>,
  position: Position,
  onEvents: (events: StreamEvent[]) => void,
): Promise<void> {
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
      if (done) return;
      position.lastId = value.id ?? position.lastId;
      waiting.push(value);
      timer ??= setTimeout(flush, 50);
    }
  } catch {
    // the connection broke
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

/**
 * Subscribes to an event stream while the component is mounted. Does nothing when the URL is null. A new `round`
 * reconnects after the last event: a stream that has ended may have new events.
 */
export function useStream(url: string | null, onEvents: (events: StreamEvent[]) => void, round = 0): Connection {
  const [connection, setConnection] = useState<Connection>('connecting');
  const last = useRef<Position>(null);
  const take = useEffectEvent(onEvents);
  const start = useEffectEvent((target: string, signal: AbortSignal) => {
    const position = last.current?.url === target ? last.current : { url: target, lastId: null };
    last.current = position;
    return readEvents({ position, signal, onEvents: take, onConnection: setConnection });
  });
  useEffect(() => {
    if (url === null) return undefined;
    const ending = new AbortController();
    setConnection('connecting');
    void start(url, ending.signal);
    return () => ending.abort();
  }, [url, round]);
  return connection;
}
