import { useEffect, useEffectEvent, useState } from 'react';
import { readEvents, type Connection, type Position, type StreamEvent } from './event-stream.ts';

interface Subscriber {
  onEvents(events: StreamEvent[]): void;
  onConnection(state: Connection): void;
}

interface SharedStream {
  position: Position;
  connection: Connection;
  subscribers: Set<Subscriber>;
  ending: AbortController;
}

const streams = new Map<string, SharedStream>();

/**
 * Subscribes to an event stream while the component is mounted, over one connection for all components. One that joins
 * later gets a `start` event with the id of the last event.
 */
export function useSharedStream(url: string, onEvents: (events: StreamEvent[]) => void): Connection {
  const [connection, setConnection] = useState<Connection>('connecting');
  const take = useEffectEvent(onEvents);
  useEffect(() => join(url, { onEvents: (events) => take(events), onConnection: setConnection }), [url]);
  return connection;
}

function join(url: string, subscriber: Subscriber): () => void {
  const stream = streams.get(url) ?? open(url);
  stream.subscribers.add(subscriber);
  subscriber.onConnection(stream.connection);
  const { lastId } = stream.position;
  if (lastId !== null) subscriber.onEvents([{ event: 'start', id: lastId, data: '{}' }]);
  return () => {
    stream.subscribers.delete(subscriber);
    if (stream.subscribers.size === 0) close(stream);
  };
}

function open(url: string): SharedStream {
  const stream: SharedStream = {
    position: { url, lastId: null },
    connection: 'connecting',
    subscribers: new Set(),
    ending: new AbortController(),
  };
  streams.set(url, stream);
  const reading = readEvents({
    position: stream.position,
    signal: stream.ending.signal,
    onEvents(events) {
      // an error of one subscriber must not reach the others
      for (const { onEvents } of stream.subscribers) queueMicrotask(() => onEvents(events));
    },
    onConnection(state) {
      stream.connection = state;
      for (const { onConnection } of stream.subscribers) onConnection(state);
    },
  });
  // a stream that the server has ended takes no more subscribers
  void reading.then(() => close(stream));
  return stream;
}

function close(stream: SharedStream): void {
  stream.ending.abort();
  const { url } = stream.position;
  if (streams.get(url) === stream) streams.delete(url);
}
