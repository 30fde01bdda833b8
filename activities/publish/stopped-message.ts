import type { TurnUsage } from '../../db/for-worker/jobs.ts';
import type { PublishedWork } from './publisher.ts';

export interface StoppedWork {
  /** Why the agent was stopped, as a sentence. */
  message: string;
  published: PublishedWork;
  usage: TurnUsage;
}

/** Returns the message for a stopped turn: the reason, its usage, where its work is, and how to continue. */
export function stoppedMessage({ message, published, usage }: StoppedWork): string {
  const { summary, prLink, isChanged } = published;
  const hasStarted = usage.steps > 0 || prLink !== null;
  const parts = hasStarted ? [message, usedSentence(usage), workSentence(prLink, isChanged), goOn] : [message];
  return [parts.join(' '), summary.message].filter((part) => part !== '').join('\n\n');
}

const goOn = 'A follow-up message continues from there; each turn has limits of its own.';

function usedSentence({ steps, inputTokens, outputTokens, costMicros }: TurnUsage): string {
  const cost = costMicros === null ? 'at a price that is not known' : `for ${dollarsOf(costMicros)}`;
  return `The turn took ${steps} ${steps === 1 ? 'step' : 'steps'} and ${inputTokens + outputTokens} tokens ${cost}.`;
}

function workSentence(prLink: string | null, isChanged: boolean): string {
  if (prLink === null) return 'It changed nothing.';
  if (!isChanged) return `It did not change the pull request ${prLink}.`;
  return `Its work so far is in the pull request ${prLink}.`;
}

/** Formats an amount in US dollars, with extra digits for small amounts. */
export function dollarsOf(micros: number): string {
  return `$${(micros / 1e6).toFixed(micros < 10_000 && micros > 0 ? 6 : 2)}`;
}
