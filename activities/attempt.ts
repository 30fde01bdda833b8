import { ApplicationFailure, Context, log } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { FailureType } from '../workflows/contract/failures.ts';
import type { TurnRef } from '../workflows/contract/job.ts';
import { verdictOf } from './failures.ts';
import type { WatchTurn } from './job/turn-watch.ts';

export interface AttemptOptions {
  /** Takes secrets out of what goes to the log and into failures. */
  redact(text: string): string;
  /** The wait after a first failure; it doubles with each further one. */
  retryBaseMs?: number;
  /** How long an activity runs before its first heartbeat: most end sooner and cost none. */
  firstHeartbeatMs?: number;
  /** Tells when the turn of an activity has ended. */
  watchTurn?: WatchTurn;
  /** Aborts when the process is about to go. */
  draining?: AbortSignal;
}

export interface AttemptScope {
  /** The turn that the activity works for; it is stopped when that turn has ended. Null: it works for none, or has to end it. */
  turn?: TurnRef | null;
  /** Whether a process that is about to go stops it at once: nothing is lost but its time. */
  isRestartable?: boolean;
  /** Whether it goes on when Temporal has lost sight of it: what it comes to is stored, and the attempt after it waits. */
  outlivesHeartbeat?: boolean;
  /** Counts a failure across attempts, in the database, and answers the new count. */
  countFailure(): Promise<number>;
}

/** Runs the body of an activity. */
export type Attempt = <Result>(scope: AttemptScope, work: (signal: AbortSignal) => Promise<Result>) => Promise<Result>;

const heartbeatIntervalMs = 500;
const longestBackoffMs = 60_000;

/**
 * Makes the frame that every activity runs in: heartbeats, cancellation, and errors turned into typed failures with fixed
 * sentences. The error itself stays in the worker's log, because a failure travels into Temporal's history.
 */
export function createAttempt(options: AttemptOptions): Attempt {
  const { redact, retryBaseMs = 1_000, firstHeartbeatMs = 500, watchTurn, draining } = options;
  return async (scope, work) => {
    // what has not begun is another worker's
    const { turn = null, isRestartable = false, outlivesHeartbeat = false } = scope;
    if (turn !== null && draining?.aborted === true) throw handedBack();
    const { cancellationSignal, heartbeat } = Context.current();
    using cancelled = outlivesHeartbeat ? whenCancelled(Context.current(), draining) : undefined;
    using watch = turn === null ? undefined : watchTurn?.(turn);
    using restart = isRestartable ? whenDraining(draining) : undefined;
    const own = cancelled?.signal ?? cancellationSignal;
    const signals = [own, watch?.signal, restart?.signal].filter((signal) => signal !== undefined);
    const signal = AbortSignal.any(signals);
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
  };

  /** Its sentence may name what a repository or a client named; message and stack travel into Temporal's history. */
  function scrubbed(failure: ApplicationFailure): ApplicationFailure {
    failure.message = redact(failure.message);
    failure.stack = failure.stack === undefined ? undefined : redact(failure.stack);
    return failure;
  }

  async function failureOf(error: unknown, scope: AttemptScope): Promise<ApplicationFailure> {
    const { category, message, tolerated, retryAfterMs } = verdictOf(error);
    const failures = tolerated === null ? null : await countOf(scope);
    const isFinal = failures !== null && tolerated !== null && failures > tolerated;
    log.warn('attempt failed', { category, failures, isFinal, cause: redact(describe(error)) });
    if (isFinal) return ApplicationFailure.nonRetryable(redact(message), category);
    const backoffMs = failures === null ? undefined : Math.min(retryBaseMs * 2 ** (failures - 1), longestBackoffMs);
    return ApplicationFailure.create({
      message: redact(message),
      type: category,
      nextRetryDelay: retryAfterMs ?? backoffMs,
    });
  }
}

/** Another attempt owns the work now. Not final: should this attempt be the newest after all, its retry goes on. */
export function takenOver(): ApplicationFailure {
  return ApplicationFailure.retryable('Another attempt took over this step.', FailureType.Superseded);
}

/** Ends this attempt only: the next one begins at once, on a worker that stays. */
function handedBack(): ApplicationFailure {
  const message = 'The worker is shutting down and hands this back.';
  const category = ApplicationFailureCategory.BENIGN;
  return ApplicationFailure.create({ message, type: FailureType.Superseded, nextRetryDelay: 1, category });
}

/** Aborts with the activity, unless Temporal only lost sight of it: such a one ends with the process at the latest. */
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
