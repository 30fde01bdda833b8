import type { Prompt } from '../../db/for-worker/jobs.ts';
import type { StepRow } from '../../db/for-worker/steps.ts';
import type { JobRow } from '../../db/jobs/jobs.ts';

/** How an agent repeats itself. */
export type Loop = 'same-call' | 'same-error' | 'alternation' | 'monologue';

/**
 * Searches the newest steps of a turn for patterns that do not end without intervention: the same calls with the same
 * results four times, the same error three times, two alternating steps six times, or three answers that do nothing.
 */
export function findLoop(steps: StepRow[]): Loop | null {
  const marks = steps.slice(-6).map(markOf);
  if (isMonologue(marks)) return 'monologue';
  if (isSame(marks.slice(-3), 3, ({ error }) => error)) return 'same-error';
  if (isSame(marks.slice(-4), 4, ({ whole }) => whole)) return 'same-call';
  return isAlternation(marks) ? 'alternation' : null;
}

/**
 * Returns the first step of a turn since which an agent may have repeated itself: the one that read the last message of a
 * person, or the first one of a fork.
 */
export function firstToWatch(turn: number, { forkedFrom }: Pick<JobRow, 'forkedFrom'>, prompts: Prompt[]): number {
  const own = forkedFrom?.turn === turn ? forkedFrom.step + 1 : 0;
  return Math.max(own, ...prompts.map((prompt) => (prompt.turn === turn ? (prompt.step ?? 0) : 0)));
}

/** Returns the message that an agent gets once before it is stopped. */
export function nudgeOf(loop: Loop): string {
  return `${seen[loop]} Repeating it will not help. Try something else, or call finish and say what blocks you.`;
}

const seen: Record<Loop, string> = {
  'same-call': 'You made the same call four times and got the same result each time.',
  'same-error': 'Your last three calls failed with the same error.',
  alternation: 'You have been going back and forth between the same two steps.',
  monologue: 'Your last three answers called no tool.',
};

/** Returns why an agent was stopped, for a person. */
export function loopSentence(loop: Loop): string {
  return `The agent was stopped because it was stuck in a loop, even after a warning: ${done[loop]}.`;
}

const done: Record<Loop, string> = {
  'same-call': 'it made the same call with the same result again and again',
  'same-error': 'it got the same error again and again',
  alternation: 'it went back and forth between the same two steps',
  monologue: 'its answers called no tool',
};

interface Mark {
  hasCalls: boolean;
  /** Returns calls and results together; null without calls. */
  whole: string | null;
  /** Returns the results if all of them are errors, with the calls whose errors are the same. */
  error: string | null;
}

function markOf({ response, toolResults }: StepRow): Mark {
  const calls = response?.toolCalls ?? [];
  if (calls.length === 0) return { hasCalls: false, whole: null, error: null };
  const results = (toolResults ?? []).map(({ toolName, output, isError }) => [toolName, output, isError]);
  const whole = JSON.stringify([calls.map(({ toolName, input }) => [toolName, input]), results]);
  const isAllError = toolResults !== null && toolResults.every(({ isError }) => isError);
  const unclear = calls.filter(({ toolName }) => hasUnclearErrors(toolName)).map(({ input }) => input);
  return { hasCalls: true, whole, error: isAllError ? JSON.stringify([results, unclear]) : null };
}

/** Reports whether different calls of a tool can fail in the same words, such as searches of a shell that find nothing. */
function hasUnclearErrors(toolName: string): boolean {
  return toolName === 'run' || toolName === 'fetch' || toolName.includes('__');
}

function isSame(marks: Mark[], count: number, keyOf: (mark: Mark) => string | null): boolean {
  const [first] = marks;
  if (first === undefined || marks.length < count) return false;
  const key = keyOf(first);
  return key !== null && marks.every((mark) => keyOf(mark) === key);
}

function isAlternation(marks: Mark[]): boolean {
  const [a, b] = marks;
  if (marks.length < 6 || a === undefined || b === undefined || a.whole === null || b.whole === null) return false;
  return a.whole !== b.whole && marks.every(({ whole }, index) => whole === (index % 2 === 0 ? a : b).whole);
}

function isMonologue(marks: Mark[]): boolean {
  const newest = marks.slice(-3);
  return newest.length === 3 && newest.every(({ hasCalls }) => !hasCalls);
}
