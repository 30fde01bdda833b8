import type { Job, Step, Turn } from '../../http/types.ts';
import type { LiveOutput, TurnEnd } from '../job-queries.ts';

type Message = Turn['messages'][number];

/** Outcome of a turn: the agent's message, what is incomplete, or why the turn failed. */
export interface Outcome {
  heading: string;
  kind: 'good' | 'failed' | 'incomplete' | 'cancelled';
  incomplete: string | null;
  message: string | null;
  /** Pull request of an earlier turn; that of the newest one is at the top of the page. */
  prLink: string | null;
}

/** State of a turn, for its heading. */
export interface TurnState {
  turn: Turn;
  /** Null while it is active, and when its events were removed. */
  end: TurnEnd | null;
  /** Pull request of a turn that changed files. */
  prLink: string | null;
  isNewest: boolean;
}

/** Item of a job's timeline, such as a prompt, a message or a step. */
export type TimelineItem =
  | ({ kind: 'prompt'; key: string } & TurnState)
  | { kind: 'message'; key: string; message: Message; isWaiting: boolean }
  | { kind: 'notice'; key: string; text: string }
  | ({ kind: 'step'; key: string; step: Step } & StepState)
  /** `lastStep` is the last step of a turn that changed files. */
  | { kind: 'outcome'; key: string; outcome: Outcome; lastStep: Step | null };

export interface StepState {
  /** The turn has ended, so that an open call gets no result any more. */
  isOver: boolean;
  /** Another job, from which this one was forked, has taken and paid for the step. */
  isCopied: boolean;
}

interface StepKey {
  turn: number;
  step: number;
}

/** Returns the name of a step in an address, which is also its id in the page. */
export function anchorOf({ turn, step }: StepKey): string {
  return `step-${turn}-${step}`;
}

/** Returns the address of a step in the page that is shown. */
export function addressOf(step: StepKey): string {
  return `${location.origin}${location.pathname}#${anchorOf(step)}`;
}

/** Returns the name of a turn in an address. */
export function turnAnchorOf({ turn }: { turn: number }): string {
  return `turn-${turn}`;
}

/** Returns the name of the outcome of a turn. */
export function outcomeAnchorOf({ turn }: { turn: number }): string {
  return `outcome-${turn}`;
}

interface TimelineSource {
  turns: Turn[];
  steps: Step[];
  prLink: string | null;
  details: Pick<Job['details'], 'phase' | 'message' | 'incomplete' | 'failure' | 'forkedFrom'>;
  live: Pick<LiveOutput, 'notices' | 'ends'>;
}

/** Returns turns with their messages, notices, steps and outcomes as one list. */
export function timelineOf({ turns, steps, prLink, details, live }: TimelineSource): TimelineItem[] {
  const items: TimelineItem[] = [];
  const ofTurns = Map.groupBy(steps, ({ turn }) => turn);
  for (const turn of turns) {
    const isOver = turn.endedAt !== null;
    const stepsOfTurn = ofTurns.get(turn.turn) ?? [];
    const notices = live.notices.filter((notice) => notice.turn === turn.turn);
    const add = (step: number | null) => {
      for (const [index, message] of turn.messages.entries()) {
        const key = `${turn.turn} ${message.createdAt} ${index}`;
        if (message.step === step) items.push({ kind: 'message', key, message, isWaiting: step === null });
      }
      for (const [index, { text, step: at }] of notices.entries()) {
        if (at === step) items.push({ kind: 'notice', key: `notice ${turn.turn} ${index}`, text });
      }
    };
    const end = live.ends.findLast((one) => one.turn === turn.turn) ?? null;
    const lastStep = stepsOfTurn.some(({ hasChanged }) => hasChanged) ? (stepsOfTurn.at(-1) ?? null) : null;
    const isNewest = turn === turns.at(-1);
    const link = lastStep === null ? null : isNewest ? prLink : (end?.prLink ?? null);
    items.push({ kind: 'prompt', key: turnAnchorOf(turn), turn, end, prLink: link, isNewest });
    for (const step of stepsOfTurn) {
      add(step.step);
      const isCopied = isUpTo(step, details.forkedFrom);
      items.push({ kind: 'step', key: anchorOf(step), step, isOver, isCopied });
    }
    add(null);
    // while the job is active, the newest turn that is known may be the one before
    const outcome = isNewest && details.phase === null ? newestOutcome(details) : earlierOutcome(end);
    if (outcome !== null) items.push({ kind: 'outcome', key: outcomeAnchorOf(turn), outcome, lastStep });
  }
  return items;
}

/** Reports whether a step is among those up to and including another one. */
export function isUpTo({ turn, step }: StepKey, last: StepKey | null): boolean {
  return last !== null && (turn < last.turn || (turn === last.turn && step <= last.step));
}

function newestOutcome({ message, incomplete, failure }: TimelineSource['details']): Outcome | null {
  if ((message ?? incomplete) === null) return null;
  if (failure === null)
    return { heading: 'Agent', kind: incomplete === null ? 'good' : 'incomplete', incomplete, message, prLink: null };
  // the message of a failed turn says what is incomplete
  const kind = failure.category === 'cancelled' ? 'cancelled' : 'failed';
  return { heading: 'Result', kind, incomplete: null, message: message ?? incomplete, prLink: null };
}

function earlierOutcome(end: TurnEnd | null): Outcome | null {
  if (end === null) return null;
  const { failure, message, prLink } = end;
  return { heading: failure ?? 'Agent', kind: failure === null ? 'good' : 'failed', incomplete: null, message, prLink };
}

/**
 * Finds a step by the number that a user typed: `12` in the newest turn that has it, `1.12` in turn 1. Returns null if
 * there is none.
 */
export function stepNamed(text: string, steps: Step[]): Step | null {
  const [, turn, number] = /^\s*(?:(\d+)\.)?(\d+)\s*$/.exec(text) ?? [];
  if (number === undefined) return null;
  const isMeant = (step: Step) => step.step === Number(number) && (turn === undefined || step.turn === Number(turn));
  return steps.findLast(isMeant) ?? null;
}
