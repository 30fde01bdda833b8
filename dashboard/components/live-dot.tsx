import type { Connection } from '../http/event-stream.ts';

const words: Record<Connection, string> = {
  connecting: 'connecting…',
  live: 'live',
  lost: 'reconnecting…',
  ended: 'ended',
};

/** Shows whether the page receives live updates. */
export function LiveDot({ connection }: { connection: Connection }) {
  return (
    <span className={`live live-${connection}`} role="status">
      <span aria-hidden="true" className="live-dot" />
      <span className="live-words">{words[connection]}</span>
    </span>
  );
}
