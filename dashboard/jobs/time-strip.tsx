import type { Step, Turn } from '../http/types.ts';
import { duration } from '../format.ts';
import type { PhaseMark } from './job-queries.ts';

const kinds = ['queue', 'git', 'model', 'tools', 'waiting'] as const;
type Kind = (typeof kinds)[number];

export interface Segment {
  kind: Kind;
  from: number;
  to: number;
  what: string;
}

/** Splits the time of a turn into segments, in order and without gaps. Times are milliseconds since 1970. */
export function segmentsOf(turn: Turn, steps: Step[], phases: PhaseMark[], now: number): Segment[] {
  const begin = Date.parse(turn.createdAt);
  const end = turn.endedAt === null ? Math.max(now, begin) : Date.parse(turn.endedAt);
  const at = (phase: string) => phases.find((mark) => mark.turn === turn.turn && mark.phase === phase)?.at;
  const known: Segment[] = [];
  const preparing = at('preparing');
  const running = at('running');
  const publishing = phases.findLast((mark) => mark.turn === turn.turn && mark.phase === 'publishing')?.at;
  const first = steps[0] === undefined ? end : Date.parse(steps[0].startedAt);
  if (preparing !== undefined) {
    known.push({ kind: 'queue', from: begin, to: preparing, what: 'Waiting for a worker' });
    known.push({ kind: 'git', from: preparing, to: running ?? Math.min(first, end), what: 'Preparing the repository' });
  } else known.push({ kind: 'queue', from: begin, to: Math.min(first, end), what: 'Before the first step' });
  for (const { step, startedAt, answeredAt, endedAt, toolCalls } of steps) {
    const started = Date.parse(startedAt);
    const answered = answeredAt === null ? end : Date.parse(answeredAt);
    known.push({ kind: 'model', from: started, to: answered, what: `Step ${step}: model` });
    if (answeredAt === null || toolCalls.length === 0) continue;
    // tools that run when the turn is stopped have run until then
    const done = endedAt === null ? (publishing ?? end) : Date.parse(endedAt);
    known.push({ kind: 'tools', from: answered, to: done, what: `Step ${step}: tools` });
  }
  if (publishing !== undefined) known.push({ kind: 'git', from: publishing, to: end, what: 'Publishing' });
  return withGaps(known, begin, end);
}

function withGaps(known: Segment[], begin: number, end: number): Segment[] {
  const all: Segment[] = [];
  let at = begin;
  for (const segment of known.sort((one, other) => one.from - other.from)) {
    // steps that were copied from another job are outside the turn's time
    const from = Math.min(Math.max(segment.from, at), end);
    const to = Math.min(Math.max(segment.to, from), end);
    if (from > at) all.push({ kind: 'waiting', from: at, to: from, what: 'Between steps' });
    if (to > from) all.push({ ...segment, from, to });
    at = Math.max(at, to);
  }
  if (end > at) all.push({ kind: 'waiting', from: at, to: end, what: 'Waiting' });
  return all;
}

const leastShare = 1 / 400;

/**
 * Returns segments that are wide enough to see. Adjacent shorter ones are merged, each group as the kind that takes
 * most of its time.
 */
export function visibleSegments(segments: Segment[]): Segment[] {
  const [first, last] = [segments[0], segments.at(-1)];
  if (first === undefined || last === undefined) return [];
  const least = (last.to - first.from) * leastShare;
  const visible: Segment[] = [];
  let short: Segment[] = [];
  const join = () => {
    const [begin, end] = [short[0], short.at(-1)];
    if (begin === undefined || end === undefined) return;
    const most = timesOf(short).sort((one, other) => other.ms - one.ms)[0]?.kind ?? begin.kind;
    const what = short.length === 1 ? begin.what : `${begin.what} – ${end.what}, mostly ${most}`;
    visible.push({ kind: most, from: begin.from, to: end.to, what });
    short = [];
  };
  for (const segment of segments) {
    if (segment.to - segment.from >= least) {
      join();
      visible.push(segment);
      continue;
    }
    short.push(segment);
    if (segment.to - (short[0]?.from ?? segment.to) >= least) join();
  }
  join();
  return visible;
}

function timesOf(segments: Segment[]): { kind: Kind; ms: number }[] {
  return kinds
    .map((kind) => ({
      kind,
      ms: segments.filter((segment) => segment.kind === kind).reduce((sum, { from, to }) => sum + to - from, 0),
    }))
    .filter(({ ms }) => ms > 0);
}

/** Shows the time of a turn as a strip. The width of each segment is proportional to its time. */
export function TimeStrip({ segments, label }: { segments: Segment[]; label: string }) {
  const begin = segments[0]?.from ?? 0;
  const whole = Math.max(1, (segments.at(-1)?.to ?? 1) - begin);
  const totals = timesOf(segments);
  const summary = totals.map(({ kind, ms }) => `${kind} ${duration(ms)}`).join(', ');
  return (
    <figure className="strip">
      <figcaption>
        <strong>{label}</strong> <span className="quiet">{duration(whole)}</span>
      </figcaption>
      <svg viewBox="0 0 1000 26" preserveAspectRatio="none" role="img" aria-label={`${label}: ${summary}`}>
        {visibleSegments(segments).map(({ kind, from, to, what }) => (
          <rect
            key={`${kind} ${from} ${to}`}
            className={`time-${kind}`}
            x={((from - begin) / whole) * 1000}
            width={Math.max(0.6, ((to - from) / whole) * 1000)}
            height="26"
          >
            <title>{`${what}: ${duration(to - from)}`}</title>
          </rect>
        ))}
      </svg>
      <ul className="legend">
        {totals.map(({ kind, ms }) => (
          <li key={kind}>
            <span className={`swatch time-${kind}`} aria-hidden="true" /> {kind} {duration(ms)}
          </li>
        ))}
      </ul>
    </figure>
  );
}
