import { ApplicationFailure, Context, log } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { KnownSecrets } from '../lib/redaction/known-secrets.ts';
import { FailureType } from '../workflows/contract/failures.ts';
import type { TurnRef } from '../workflows/contract/job.ts';
import { verdictOf } from './failures.ts';
import type { WatchTurn } from './job/turn-watch.ts';

export interface AttemptOptions {
  /** Each activity knows the secrets that it learns; they are redacted from log entries and failures. */
  secrets: Pick<KnownSecrets, 'during' | 'redact'>;
  /** Retry delay after the first failure; doubles with each further one. */
  retryBaseMs?: number;
  /** Time before an activity's first heartbeat. Most activities end sooner and send none. */
  firstHeartbeatMs?: number;
  /** Watches for the end of an activity's turn. */
  watchTurn?: WatchTurn;
  /** Aborts when the process is about to shut down. */
  draining?: AbortSignal;
}

export interface AttemptScope {
  /**
   * Turn that the activity works for; the activity is stopped when that turn ends. Null if it has no turn or has to end
   * it.
   */
  turn?: TurnRef | null;
  /** Whether a shutdown stops the activity at once, because only its time is lost. */
  isRestartable?: boolean;
  /** Keep running after Temporal misses its heartbeat: the result is stored, and the next attempt waits for it. */
  outlivesHeartbeat?: boolean;
  /**
   * Counts a failure across attempts, in the database, and returns the new count; `retry-now` when the next attempt does
   * something else.
   */
  countFailure(error: unknown): Promise<number | 'retry-now'>;
}

/** Runs the body of an activity. */
export type Attempt = <Result>(scope: AttemptScope, work: (signal: AbortSignal) => Promise<Result>) => Promise<Result>;

const heartbeatIntervalMs = 500;
const maxBackoffMs = 60_000;
const maxCauseLength = 8_000;

/**
 * Creates the frame that every activity runs in. It sends heartbeats, handles cancellation, and converts errors into
 * typed failures with fixed messages. The original error stays in the worker's log, because a failure is stored in
 * Temporal's history.
 */
export function createAttempt(options: AttemptOptions): Attempt {
  const { secrets, retryBaseMs = 1_000, firstHeartbeatMs = 500, watchTurn, draining } = options;
  const { redact } = secrets;
  return (scope, work) => secrets.during(() => attempt(scope, work));

  async function attempt<Result>(scope: AttemptScope, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    // leave work that has not started to another worker
    const { turn = null, isRestartable = false, outlivesHeartbeat = false } = scope;
    if (turn !== null && draining?.aborted === true) throw handedBack();
    const { cancellationSignal, heartbeat } = Context.current();
    using cancelled = outlivesHeartbeat ? whenCancelled(Context.current(), draining) : undefined;
    using watch = turn === null ? undefined : watchTurn?.(turn);
    using restart = isRestartable ? whenDraining(draining) : undefined;
    const own = cancelled?.signal ?? cancellationSignal;
    const signals = [own, watch?.signal, restart?.signal].filter((signal) => signal !== undefined);
    const signal = AbortSignal.any(signals);
    // the activity may have ended for Temporal in an earlier part that outlives its heartbeat
    signal.throwIfAborted();
    let interval: NodeJS.Timeout | undefined;
    const first = setTimeout(() => {
      heartbeat();
      interval = setInterval(heartbeat, heartbeatIntervalMs);
    }, firstHeartbeatMs);
    try {
      return await work(signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof ApplicationFailure) throw scrubbed(error);
      throw await failureOf(error, scope);
    } finally {
      clearTimeout(first);
      clearInterval(interval);
    }
  }

  /**
   * Redacts a failure: its message may quote a repository or a client, and message and stack are stored in Temporal's
   * history.
   */
  function scrubbed(failure: ApplicationFailure): ApplicationFailure {
    failure.message = redact(failure.message);
    failure.stack = failure.stack === undefined ? undefined : redact(failure.stack);
    return failure;
  }

  async function failureOf(error: unknown, scope: AttemptScope): Promise<ApplicationFailure> {
    const { category, message, tolerated, retryAfterMs } = verdictOf(error);
    const counted = tolerated === null ? null : await countOf(scope, error);
    const isReplaced = counted === 'retry-now';
    const failures = isReplaced ? null : counted;
    const isFinal = failures !== null && tolerated !== null && failures > tolerated;
    log.warn('attempt failed', {
      category,
      failures,
      isFinal,
      cause: redact(describe(error)).slice(0, maxCauseLength),
    });
    if (isFinal) return ApplicationFailure.nonRetryable(redact(message), category);
    const backoffMs = failures === null ? undefined : Math.min(retryBaseMs * 2 ** (failures - 1), maxBackoffMs);
    return ApplicationFailure.create({
      message: redact(message),
      type: category,
      // Temporal takes 0 for no retry
      nextRetryDelay: isReplaced ? 1 : retryAfterMs || backoffMs,
    });
  }
}

/**
 * Returns the failure of an attempt that another one has superseded. Retryable, in case this attempt is the newest
 * after all.
 */
export function takenOver(): ApplicationFailure {
  return ApplicationFailure.retryable('Another attempt took over this step.', FailureType.Superseded);
}

/** Ends only this attempt; the next one starts at once on a worker that keeps running. */
function handedBack(): ApplicationFailure {
  const message = 'The worker is shutting down; another attempt follows.';
  const category = ApplicationFailureCategory.BENIGN;
  return ApplicationFailure.create({ message, type: FailureType.Superseded, nextRetryDelay: 1, category });
}

/**
 * Aborts with the activity, unless Temporal only missed a heartbeat. In that case it aborts at shutdown at the latest.
 */
function whenCancelled(context: Context, draining: AbortSignal | undefined): Disposable & { signal: AbortSignal } {
  const { cancellationSignal } = context;
  const controller = new AbortController();
  const waiting = new DisposableStack();
  const stop = () => {
    const { notFound, timedOut, cancelRequested } = context.cancellationDetails ?? {};
    const isLost = (notFound === true || timedOut === true) && cancelRequested !== true;
    if (!isLost || draining?.aborted === true) return controller.abort(cancellationSignal.reason);
    const { signal } = waiting.use(whenDraining(draining));
    signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  };
  if (cancellationSignal.aborted) stop();
  cancellationSignal.addEventListener('abort', stop, { once: true });
  waiting.defer(() => cancellationSignal.removeEventListener('abort', stop));
  return { signal: controller.signal, [Symbol.dispose]: () => waiting.dispose() };
}

function whenDraining(draining: AbortSignal | undefined): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  const stop = () => controller.abort(handedBack());
  draining?.addEventListener('abort', stop, { once: true });
  return { signal: controller.signal, [Symbol.dispose]: () => draining?.removeEventListener('abort', stop) };
}

/** Returns the failure count, or null: a database that is unavailable must not end the job. */
async function countOf({ countFailure }: AttemptScope, error: unknown): Promise<number | 'retry-now' | null> {
  try {
    return await countFailure(error);
  } catch {
    return null;
  }
}

function describe(error: unknown): string {
  const parts: string[] = [];
  for (let at = error; at !== undefined && parts.length < 5; at = at instanceof Error ? at.cause : undefined) {
    parts.push(at instanceof Error ? `${at.stack ?? at.message}${detailOf(at)}` : String(at));
  }
  return parts.join('\ncaused by: ').slice(0, 8 * maxCauseLength);
}

function detailOf(error: Error): string {
  return 'detail' in error && typeof error.detail === 'string' && error.detail !== '' ? `\n${error.detail}` : '';
}
