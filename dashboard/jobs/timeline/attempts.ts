import type { Step } from '../../http/types.ts';
import type { AttemptStart } from '../job-queries.ts';

export interface LostAttempt {
  attempt: number;
  /** Milliseconds since 1970. It ended at some time before the next attempt began. */
  from: number;
  to: number;
}

export interface StepAttempts {
  /** Attempts that got no answer from the model, in order. */
  lost: LostAttempt[];
  /** Number of attempts that stopped while tools ran. Their times are not stored. */
  lostInTools: number;
  /** Why attempts failed; null if none did. */
  reason: string | null;
}

/** Returns the attempts of a step that failed or were lost. */
export function attemptsOf(
  { attempts, modelFailures, answeredAt }: Pick<Step, 'attempts' | 'modelFailures' | 'answeredAt'>,
  starts: AttemptStart[] = [],
): StepAttempts {
  const before = answeredAt === null ? Number.POSITIVE_INFINITY : Date.parse(answeredAt);
  // an overtaken attempt that answers first announces itself again when it does
  const begun = starts.filter(({ at }, index) => at < before || index === 0);
  const lost = begun
    .slice(0, -1)
    .map(({ attempt, at }, index) => ({ attempt, from: at, to: begun[index + 1]?.at ?? at }));
  const isKnown = starts.length > 0 && answeredAt !== null;
  const lostInTools = isKnown ? Math.max(0, attempts - 1 - lost.length) : 0;
  return { lost, lostInTools, reason: reasonOf(modelFailures, Math.max(attempts - 1, lost.length)) };
}

function reasonOf(modelFailures: number, all: number): string | null {
  const byWorker = all - modelFailures;
  const reasons = [
    ...(modelFailures > 0 ? [`The model provider failed ${times(modelFailures)}.`] : []),
    ...(byWorker > 0
      ? [`A worker stopped ${times(byWorker)}, and another attempt continued from the stored state.`]
      : []),
  ];
  return reasons.length === 0 ? null : reasons.join(' ');
}

function times(number: number): string {
  return number === 1 ? 'once' : `${number} times`;
}
