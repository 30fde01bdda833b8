import type { Step, Turn } from '../../http/types.ts';
import { attemptsOf, type LostAttempt } from './attempts.ts';
import { stepKeyOf, type LiveOutput } from '../job-queries.ts';

const kinds = ['queue', 'git', 'model', 'tools', 'lost', 'waiting'] as const;
export type Kind = (typeof kinds)[number];

export interface Segment {
  kind: Kind;
  from: number;
  to: number;
  what: string;
  /** Null for time that belongs to no step. */
  step: number | null;
  /** The turn ended because of it. */
  isFailed?: true;
}

/** Kind of operation in which a job fails with a category; those of limits and decisions end no operation. */
const failedKinds: Record<string, Kind> = {
  repository_unreachable: 'git',
  repository_too_large: 'git',
  ref_not_found: 'git',
  setup_failed: 'git',
  image_unavailable: 'git',
  authentication_refused: 'git',
  push_rejected: 'git',
  path_not_allowed: 'git',
  model_refused: 'model',
  model_unavailable: 'model',
  tool_failure: 'tools',
};

/** Marks the segment in which a turn failed with a category; null for a turn that did not fail. */
export function withFailure(segments: Segment[], category: string | null): Segment[] {
  const kind = category === null ? undefined : failedKinds[category];
  const at = segments.findLastIndex((segment) => segment.kind === kind);
  return segments.map((segment, index) => (index === at ? { ...segment, isFailed: true } : segment));
}

/** Returns the kind that a segment is shown as. */
export function shownKind({ kind, isFailed }: Segment): Kind {
  return isFailed === true ? 'lost' : kind;
}

/** Splits the time of a turn into segments, in order and without gaps. Times are milliseconds since 1970. */
export function segmentsOf(
  turn: Turn,
  steps: Step[],
  { phases, starts }: Pick<LiveOutput, 'phases' | 'starts'>,
  now: number,
): Segment[] {
  const start = Date.parse(turn.createdAt);
  const end = turn.endedAt === null ? Math.max(now, start) : Date.parse(turn.endedAt);
  const at = (phase: string) => phases.find((mark) => mark.turn === turn.turn && mark.phase === phase)?.at;
  const known: Segment[] = [];
  const preparing = at('preparing');
  const running = at('running');
  const publishing = phases.findLast((mark) => mark.turn === turn.turn && mark.phase === 'publishing')?.at;
  // the steps that a fork took over are from before it
  const own = steps.find(({ startedAt }) => Date.parse(startedAt) >= start);
  const first = own === undefined ? end : Date.parse(own.startedAt);
  if (preparing !== undefined) {
    known.push({ kind: 'queue', from: start, to: preparing, what: 'Waiting for a worker', step: null });
    const to = running ?? Math.min(first, end);
    known.push({ kind: 'git', from: preparing, to, what: 'Preparing the repository', step: null });
  } else
    known.push({ kind: 'queue', from: start, to: Math.min(first, end), what: 'Before the first step', step: null });
  for (const one of steps) {
    const { step, startedAt, answeredAt, endedAt, toolCalls } = one;
    const { lost, lostInTools, unknown } = attemptsOf(one, starts.get(stepKeyOf(one)));
    const answered = answeredAt === null ? end : Date.parse(answeredAt);
    const lostSegment = ({ attempt, worker, from, to }: LostAttempt): Segment => {
      const what = `Step ${step}: attempt ${attempt} lost${worker === null ? '' : ` on ${worker}`}`;
      // until the answer it was of use
      return { kind: 'lost', from: to > answered ? Math.max(from, answered) : from, to, what, step };
    };
    known.push(...[...lost, ...lostInTools].map(lostSegment));
    const started = lost.at(-1)?.to ?? Date.parse(startedAt);
    known.push({ kind: 'model', from: started, to: answered, what: `Step ${step}: model`, step });
    if (answeredAt === null || toolCalls.length === 0) continue;
    // tools that run when the turn is stopped have run until then
    const to = endedAt === null ? (publishing ?? end) : Date.parse(endedAt);
    const what = unknown === 0 ? `Step ${step}: tools` : `Step ${step}: tools, with a lost attempt`;
    const from = lostInTools.at(-1)?.to ?? answered;
    known.push({ kind: unknown === 0 ? 'tools' : 'lost', from, to, what, step });
  }
  if (publishing !== undefined) known.push({ kind: 'git', from: publishing, to: end, what: 'Publishing', step: null });
  return withGaps(known, start, end);
}

function withGaps(known: Segment[], start: number, end: number): Segment[] {
  const all: Segment[] = [];
  let at = start;
  for (const segment of known.sort((a, b) => a.from - b.from)) {
    // steps that were copied from another job are outside the turn's time
    const from = Math.min(Math.max(segment.from, at), end);
    const to = Math.min(Math.max(segment.to, from), end);
    if (from > at) all.push({ kind: 'waiting', from: at, to: from, what: 'Between steps', step: null });
    if (to > from) all.push({ ...segment, from, to });
    at = Math.max(at, to);
  }
  if (end > at) all.push({ kind: 'waiting', from: at, to: end, what: 'Waiting', step: null });
  return all;
}

const minShare = 1 / 400;

/**
 * Returns segments that are wide enough to see. Adjacent shorter ones are merged, each group as the kind that takes
 * most of its time, or as lost if any attempt in it was.
 */
export function visibleSegments(segments: Segment[]): Segment[] {
  const [first, last] = [segments[0], segments.at(-1)];
  if (first === undefined || last === undefined) return [];
  const least = (last.to - first.from) * minShare;
  const visible: Segment[] = [];
  let short: Segment[] = [];
  const join = () => {
    const [start, end] = [short[0], short.at(-1)];
    if (start === undefined || end === undefined) return;
    const hasLost = short.some((segment) => shownKind(segment) === 'lost');
    const most = hasLost ? 'lost' : (timesOf(short).sort((a, b) => b.ms - a.ms)[0]?.kind ?? start.kind);
    const what = short.length === 1 ? start.what : `${start.what} – ${end.what}, mostly ${most}`;
    visible.push({ kind: most, from: start.from, to: end.to, what, step: start.step });
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

/** Returns the total time of each kind that takes any. */
export function timesOf(segments: Segment[]): { kind: Kind; ms: number }[] {
  return kinds
    .map((kind) => ({
      kind,
      ms: segments.filter((segment) => shownKind(segment) === kind).reduce((sum, { from, to }) => sum + to - from, 0),
    }))
    .filter(({ ms }) => ms > 0);
}
