import { useSyncExternalStore } from 'react';
import { ago, fullTime } from '../format.ts';

const everyMs = 10_000;
let now = Date.now();

function subscribe(onTick: () => void): () => void {
  const timer = setInterval(() => {
    now = Date.now();
    onTick();
  }, everyMs);
  return () => clearInterval(timer);
}

/** Shows a relative time, with the full date in its title. */
export function Ago({ date }: { date: string }) {
  const at = useSyncExternalStore(subscribe, () => now);
  return (
    <time dateTime={date} title={fullTime(date)}>
      {ago(date, Math.max(at, Date.parse(date)))}
    </time>
  );
}
