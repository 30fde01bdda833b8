import { ago, fullTime, seconds } from '../format.ts';
import { useClock } from './clock.ts';

/** Shows a relative time, with the full date in its title. */
export function Ago({ date }: { date: string }) {
  const at = useClock({ since: Date.parse(date) });
  return (
    <time dateTime={date} title={fullTime(date)}>
      {ago(date, Math.max(at, Date.parse(date)))}
    </time>
  );
}

/** Shows the time since a date, which grows every second. `doing` says what goes on: "running". */
export function Elapsed({ since, doing }: { since: string; doing: string }) {
  const at = useClock();
  return (
    <span title={`${doing} since ${fullTime(since)}`}>
      <span className="visually-hidden">{doing} for </span>
      {seconds(at - Date.parse(since))}
    </span>
  );
}
