import { ApplicationFailure, Context, log } from '@temporalio/activity';
import { FailureType } from '../workflows/contract/failures.ts';
import { verdictOf } from './failures.ts';

export interface AttemptOptions {
  /** Takes secrets out of what goes to the log. */
  redact(text: string): string;
  /** The wait after a first failure; it doubles with each further one. */
  retryBaseMs?: number;
  /** How long an activity runs before its first heartbeat: most end sooner and cost none. */
  firstHeartbeatMs?: number;
}

export interface AttemptScope {
  /** Counts a failure across attempts, in the database, and answers the new count. */
  countFailure(): Promise<number>;
}

/** Runs the body of an activity. */
export type Attempt = <Result>(scope: AttemptScope, work: (signal: AbortSignal) => Promise<Result>) => Promise<Result>;

const heartbeatIntervalMs = 1_000;
const longestBackoffMs = 60_000;

/**
 * Makes the frame that every activity runs in: heartbeats, cancellation, and errors turned into typed failures with fixed
 * sentences. The error itself stays in the worker's log, because a failure travels into the engine's history.
 */
export function createAttempt({ redact, retryBaseMs = 1_000, firstHeartbeatMs = 500 }: AttemptOptions): Attempt {
  return async (scope, work) => {
    const { cancellationSignal, heartbeat } = Context.current();
    let interval: NodeJS.Timeout | undefined;
    const first = setTimeout(() => {
      heartbeat();
      interval = setInterval(heartbeat, heartbeatIntervalMs);
    }, firstHeartbeatMs);
    try {
      return await work(cancellationSignal);
    } catch (error) {
      if (cancellationSignal.aborted) throw cancellationSignal.reason;
      if (error instanceof ApplicationFailure) throw error;
      throw await failureOf(error, scope);
    } finally {
      clearTimeout(first);
      clearInterval(interval);
    }
  };

  async function failureOf(error: unknown, scope: AttemptScope): Promise<ApplicationFailure> {
    const { category, message, tolerated, retryAfterMs } = verdictOf(error);
    const failures = tolerated === null ? null : await countOf(scope);
    const isFinal = failures !== null && tolerated !== null && failures > tolerated;
    log.warn('attempt failed', { category, failures, isFinal, cause: redact(describe(error)) });
    if (isFinal) return ApplicationFailure.nonRetryable(message, category);
    const backoffMs = failures === null ? undefined : Math.min(retryBaseMs * 2 ** (failures - 1), longestBackoffMs);
    return ApplicationFailure.create({ message, type: category, nextRetryDelay: retryAfterMs ?? backoffMs });
  }
}

/** Another attempt owns the work now. Not final: should this attempt be the newest after all, its retry goes on. */
export function takenOver(): ApplicationFailure {
  return ApplicationFailure.retryable('Another attempt took this step over.', FailureType.Superseded);
}

/** A database that cannot count right now must not end the job. */
async function countOf({ countFailure }: AttemptScope): Promise<number | null> {
  try {
    return await countFailure();
  } catch {
    return null;
  }
}

function describe(error: unknown): string {
  const parts: string[] = [];
  for (let at = error; at !== undefined && parts.length < 5; at = at instanceof Error ? at.cause : undefined) {
    parts.push(at instanceof Error ? `${at.stack ?? at.message}${detailOf(at)}` : String(at));
  }
  return parts.join('\ncaused by: ').slice(0, 8_000);
}

function detailOf(error: Error): string {
  return 'detail' in error && typeof error.detail === 'string' && error.detail !== '' ? `\n${error.detail}` : '';
}
