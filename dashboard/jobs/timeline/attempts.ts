import type { Step } from '../../http/types.ts';
import type { AttemptStart } from '../job-queries.ts';

export interface LostAttempt {
  attempt: number;
  /** Process and host of its worker, such as `12510@vm`; null if not known. */
  worker: string | null;
  /** Milliseconds since 1970. It ended at some time before the next attempt began. */
  from: number;
  to: number;
}

export interface StepAttempts {
  /** Attempts that got no answer from the model, in order. */
  lost: LostAttempt[];
  /** Attempts that stopped after the answer, while tools ran. */
  lostInTools: LostAttempt[];
  /** Number of further ones whose times are not stored. */
  unknown: number;
  /** Why attempts failed; null if none did. */
  reason: string | null;
}

type Attempted = Pick<Step, 'attempts' | 'lostAttempts' | 'modelFailures' | 'answeredAt'>;

/** Returns the attempts of a step that failed or were lost. */
export function attemptsOf(step: Attempted, starts: AttemptStart[] = []): StepAttempts {
  const { attempts, modelFailures, answeredAt } = step;
  const before = answeredAt === null ? Number.POSITIVE_INFINITY : Date.parse(answeredAt);
  const stored = step.lostAttempts.map(({ attempt, worker, startedAt, endedAt }) => ({
    attempt,
    worker,
    from: Date.parse(startedAt),
    to: Date.parse(endedAt),
  }));
  const known = stored.length > 0 ? stored : lostOf(starts, before);
  const lost = known.filter(({ to }) => to <= before);
  const lostInTools = known.filter(({ to }) => to > before);
  const isKnown = stored.length > 0 || (starts.length > 0 && answeredAt !== null);
  return {
    lost,
    lostInTools,
    unknown: isKnown ? Math.max(0, attempts - 1 - known.length) : 0,
    reason: reasonOf(modelFailures, Math.max(attempts - 1, known.length)),
  };
}

/** Steps of earlier versions have only the events of attempts that called the model. */
function lostOf(starts: AttemptStart[], before: number): LostAttempt[] {
  // an overtaken attempt that answers first announces itself again when it does
  const started = starts.filter(({ at }, index) => at < before || index === 0);
  return started
    .slice(0, -1)
    .map(({ attempt, at }, index) => ({ attempt, worker: null, from: at, to: started[index + 1]?.at ?? at }));
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
