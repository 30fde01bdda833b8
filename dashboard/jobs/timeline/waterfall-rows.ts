import { duration } from '../../format.ts';
import type { Step, Turn } from '../../http/types.ts';
import { attemptsOf } from './attempts.ts';
import { stepKeyOf, type LiveOutput } from '../job-queries.ts';
import { segmentsOf, visibleSegments, withFailure, type Segment } from './segments.ts';
import { anchorOf, turnAnchorOf } from './timeline.ts';

/** Row of the timeline: a turn, its time in the queue, a step, and so on. */
export interface WaterfallRow {
  /** Unique among the rows. */
  key: string;
  /** Item of the conversation that the row leads to. */
  anchor: string;
  label: string;
  isTurn: boolean;
  /** Names of the tools of a step. */
  tools: string;
  segments: Segment[];
  ms: number;
  /** Why attempts failed; null if none did. */
  reason: string | null;
}

export interface Timed {
  turns: Turn[];
  steps: Step[];
  live: Pick<LiveOutput, 'phases' | 'starts'>;
  /** Failure category of the last turn; null if it did not fail. */
  failure: string | null;
}

/** Returns the rows of all turns, in the order of time. */
export function waterfallRows({ turns, steps, live, failure }: Timed, now: number): WaterfallRow[] {
  const ofTurns = Map.groupBy(steps, ({ turn }) => turn);
  return turns.flatMap((turn, at) => {
    const own = ofTurns.get(turn.turn) ?? [];
    const segments = withFailure(segmentsOf(turn, own, live, now), at === turns.length - 1 ? failure : null);
    return rowsOfTurn(turn, own, live, segments);
  });
}

function rowsOfTurn(turn: Turn, steps: Step[], live: Timed['live'], segments: Segment[]): WaterfallRow[] {
  const anchor = turnAnchorOf(turn);
  const ofSteps = Map.groupBy(segments, ({ step }) => step);
  const others = (ofSteps.get(null) ?? []).filter(({ kind }) => kind !== 'waiting');
  const publishing = others.filter(({ what }) => what === 'Publishing');
  const partOf = (name: string, label: string, parts: Segment[], isCertain = false) =>
    parts.length > 0 || isCertain ? [rowOf({ key: `${anchor} ${name}`, anchor, label, segments: parts })] : [];
  const hasOwnStep = steps.some(({ startedAt }) => startedAt >= turn.createdAt);
  return [
    rowOf({ key: anchor, anchor, label: `Turn ${turn.turn}`, isTurn: true, segments: visibleSegments(segments) }),
    ...partOf(
      'queue',
      'Queue',
      others.filter(({ kind }) => kind === 'queue'),
    ),
    ...partOf(
      'prepare',
      'Prepare',
      others.filter((segment) => segment.kind === 'git' && !publishing.includes(segment)),
      // reserves the space, or the content below would move when the events arrive
      hasOwnStep,
    ),
    ...steps.map((step) =>
      rowOf({
        key: anchorOf(step),
        anchor: anchorOf(step),
        label: `Step ${step.step}`,
        tools: [...new Set(step.toolCalls.map(({ toolName }) => toolName))].join(', '),
        segments: ofSteps.get(step.step) ?? [],
        reason: attemptsOf(step, live.starts.get(stepKeyOf(step))).reason,
      }),
    ),
    ...partOf('publish', 'Publish', publishing, typeof turn.headCommit === 'string'),
  ];
}

type NewRow = Pick<WaterfallRow, 'key' | 'anchor' | 'label' | 'segments'> & Partial<WaterfallRow>;

function rowOf(row: NewRow): WaterfallRow {
  const ms = row.segments.reduce((sum, { from, to }) => sum + to - from, 0);
  const hasFailed = row.isTurn !== true && row.segments.some(({ isFailed }) => isFailed === true);
  return { isTurn: false, tools: '', ms, ...row, reason: row.reason ?? (hasFailed ? 'failed' : null) };
}

/** Returns the values of a row as text: each part with its duration, the tools, and why attempts failed. */
export function valuesOf({ label, isTurn, tools, segments, ms, reason }: WaterfallRow): string {
  const parts = isTurn ? [] : segments.map(({ what, from, to }) => `${shortened(what, label)} ${duration(to - from)}`);
  return [
    `${label}: ${timeOf({ segments, ms })}`,
    ...(parts.length > 1 || reason !== null ? parts : []),
    ...(tools === '' ? [] : [tools]),
    ...(reason === null ? [] : [reason]),
  ].join(' · ');
}

/** Returns the time of a row; a dash if it is not known. */
export function timeOf({ segments, ms }: Pick<WaterfallRow, 'segments' | 'ms'>): string {
  return segments.length === 0 ? '–' : duration(ms);
}

function shortened(what: string, label: string): string {
  return what.startsWith(`${label}: `) ? what.slice(label.length + 2) : what;
}
