import type { Step, Turn } from '../http/types.ts';

type Message = Turn['messages'][number];

/** What stands in the timeline of a job, in order: what was said, what was done, how it ended. */
export type TimelineItem =
  | { kind: 'prompt'; key: string; turn: Turn }
  | { kind: 'message'; key: string; message: Message; isWaiting: boolean }
  | { kind: 'step'; key: string; step: Step }
  | { kind: 'outcome'; key: string };

interface StepKey {
  turn: number;
  step: number;
}

/** The name of a step in an address, and its id in the page. */
export function anchorOf({ turn, step }: StepKey): string {
  return `step-${turn}-${step}`;
}

/** Turns with their messages and steps as one list. `hasOutcome`: the newest turn has ended, with words. */
export function timelineOf(turns: Turn[], steps: Step[], hasOutcome: boolean): TimelineItem[] {
  const items: TimelineItem[] = [];
  const ofTurns = Map.groupBy(steps, ({ turn }) => turn);
  for (const turn of turns) {
    const said = (message: Message): TimelineItem => ({
      kind: 'message',
      key: `${turn.turn} ${message.createdAt} ${turn.messages.indexOf(message)}`,
      message,
      isWaiting: message.step === null,
    });
    items.push({ kind: 'prompt', key: `turn-${turn.turn}`, turn });
    for (const step of ofTurns.get(turn.turn) ?? []) {
      for (const message of turn.messages) if (message.step === step.step) items.push(said(message));
      items.push({ kind: 'step', key: anchorOf(step), step });
    }
    for (const message of turn.messages) if (message.step === null) items.push(said(message));
  }
  if (hasOutcome) items.push({ kind: 'outcome', key: 'outcome' });
  return items;
}

/** The step that a person names: `12` of the newest turn that has it, `1.12` of turn 1; null when there is none. */
export function stepNamed(text: string, steps: Step[]): Step | null {
  const [, turn, number] = /^\s*(?:(\d+)\.)?(\d+)\s*$/.exec(text) ?? [];
  if (number === undefined) return null;
  const isMeant = (step: Step) => step.step === Number(number) && (turn === undefined || step.turn === Number(turn));
  return steps.findLast(isMeant) ?? null;
}
