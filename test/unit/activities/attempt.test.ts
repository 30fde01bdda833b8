import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure, type ActivityCancellationDetails } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { createAttempt, type AttemptOptions, type AttemptScope } from '../../../activities/attempt.ts';
import { createKnownSecrets } from '../../../lib/redaction/known-secrets.ts';
import { GitError } from '../../../activities/git/git-error.ts';

const secret = 'ghp_0123456789abcdefghij';

interface Run<Result> {
  outcome: PromiseSettledResult<Result>;
  heartbeats: number;
  logged: string;
}

interface RunOptions extends Partial<Pick<AttemptOptions, 'draining' | 'watchTurn' | 'secrets'>> {
  scope?: Partial<AttemptScope>;
  controller?: AbortController;
  /** The reason for the abort, as Temporal reports it. */
  details?: Partial<ActivityCancellationDetails>;
}

/** Runs a body inside the context of an activity. */
async function runBody<Result>(
  work: (signal: AbortSignal, beaten: Promise<void>) => Promise<Result>,
  { scope, controller = new AbortController(), details, ...options }: RunOptions = {},
): Promise<Run<Result>> {
  let heartbeats = 0;
  let logged = '';
  const { promise: beaten, resolve } = Promise.withResolvers<void>();
  const note = (message: string, attributes?: unknown) => void (logged += JSON.stringify([message, attributes]));
  const context = {
    cancellationSignal: controller.signal,
    cancellationDetails: details,
    heartbeat() {
      heartbeats += 1;
      resolve();
    },
    log: { trace: note, debug: note, info: note, warn: note, error: note, log: note },
  } as unknown as Context;
  const attempt = createAttempt({
    secrets: createKnownSecrets([secret]),
    firstHeartbeatMs: 1,
    ...options,
  });
  const body = () =>
    attempt({ turn: null, countFailure: () => Promise.resolve(1), ...scope }, (signal) => work(signal, beaten));
  const [outcome] = await Promise.allSettled([asyncLocalStorage.run(context, body)]);
  return { outcome, heartbeats, logged };
}

function failureOf({ outcome }: Run<unknown>): ApplicationFailure {
  if (outcome.status === 'fulfilled') throw new Error('The body did not fail.');
  expect(outcome.reason).toBeInstanceOf(ApplicationFailure);
  return outcome.reason as ApplicationFailure;
}

describe('an attempt', () => {
  it('starts nothing when its activity was lost in an earlier part', async () => {
    const controller = new AbortController();
    const lost = new CancelledFailure('TIMED_OUT');
    controller.abort(lost);
    let begun = false;
    const { outcome } = await runBody(
      async () => {
        begun = true;
      },
      { controller, details: { timedOut: true } },
    );
    expect({ begun, outcome }).toEqual({ begun: false, outcome: { status: 'rejected', reason: lost } });
  });

  it('returns what its body returns', async () => {
    expect((await runBody(() => Promise.resolve(7))).outcome).toEqual({ status: 'fulfilled', value: 7 });
  });

  it('heartbeats while its body runs, and not after', async () => {
    const run = await runBody((_, beaten) => beaten);
    expect(run.outcome.status).toBe('fulfilled');
    expect(run.heartbeats).toBeGreaterThan(0);
  });

  it('ends as cancelled when it was cancelled, whatever its body throws', async () => {
    const controller = new AbortController();
    const reason = new CancelledFailure('CANCELLED');
    const work = () => {
      controller.abort(reason);
      return Promise.reject(new GitError('aborted'));
    };
    expect((await runBody(work, { controller })).outcome).toEqual({ status: 'rejected', reason });
  });

  it('passes on a failure that is already typed', async () => {
    const failure = ApplicationFailure.nonRetryable('Gone.', 'superseded');
    expect(failureOf(await runBody(() => Promise.reject(failure)))).toBe(failure);
  });
});

describe('the secrets of a project', () => {
  const failing = ApplicationFailure.nonRetryable('It is in production.', 'internal');

  it('are known to the activity that learns them, also in its failure', async () => {
    const secrets = createKnownSecrets([]);
    const learning = await runBody(
      () => {
        secrets.learn('project_1', ['production']);
        return Promise.reject(ApplicationFailure.nonRetryable(failing.message, 'internal'));
      },
      { secrets },
    );
    expect(failureOf(learning).message).toBe('It is in [redacted].');
    const other = await runBody(() => Promise.reject(failing), { secrets });
    expect(failureOf(other).message).toBe('It is in production.');
  });
});

describe('an attempt for a turn', () => {
  const turn = { jobId: 'job_1', turn: 1 };
  const untilAborted = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new GitError('aborted'))));

  it('ends with the reason when the turn has ended', async () => {
    const ended = new AbortController();
    const reason = ApplicationFailure.nonRetryable('The turn has ended.', 'superseded');
    const watchTurn = () => ({ signal: ended.signal, [Symbol.dispose]: () => undefined });
    const work = (signal: AbortSignal) => {
      setImmediate(() => ended.abort(reason));
      return untilAborted(signal);
    };
    expect(failureOf(await runBody(work, { scope: { turn }, watchTurn }))).toBe(reason);
  });

  it('starts nothing in a process that is shutting down, but hands the work back', async () => {
    const draining = AbortSignal.abort();
    const work = () => Promise.reject(new Error('It has begun.'));
    expect(failureOf(await runBody(work, { scope: { turn }, draining }))).toMatchObject({ nonRetryable: false });
    const { outcome } = await runBody(() => Promise.resolve('recorded'), { draining });
    expect(outcome).toMatchObject({ value: 'recorded' });
  });

  it.each([true, false])('that is restartable: %s', async (isRestartable) => {
    const draining = new AbortController();
    const work = async (signal: AbortSignal) => {
      draining.abort();
      signal.throwIfAborted();
      return 'ended';
    };
    const run = await runBody(work, { scope: { turn, isRestartable }, draining: draining.signal });
    if (isRestartable) expect(failureOf(run)).toMatchObject({ nonRetryable: false, nextRetryDelay: 1 });
    else expect(run.outcome).toMatchObject({ value: 'ended' });
  });

  describe.each([
    ['was not told of its end', { notFound: true }],
    ['took it for dead', { timedOut: true }],
  ])('of which Temporal %s', (_, details) => {
    const scope = { turn: { jobId: 'job', turn: 1 }, outlivesHeartbeat: true };

    it('continues if it may outlive Temporal’s heartbeat', async () => {
      const controller = new AbortController();
      const work = async (signal: AbortSignal) => {
        controller.abort(new CancelledFailure('NOT_FOUND'));
        return signal.aborted;
      };
      const { outcome } = await runBody(work, { scope, controller, details });
      expect(outcome).toEqual({ status: 'fulfilled', value: false });
    });

    it('ends if it may not, or if it was also cancelled', async () => {
      for (const [outlivesHeartbeat, cancelRequested] of [
        [false, false],
        [true, true],
      ]) {
        const controller = new AbortController();
        const work = async (signal: AbortSignal) => {
          controller.abort(new CancelledFailure('NOT_FOUND'));
          return signal.aborted;
        };
        const options = {
          scope: { ...scope, outlivesHeartbeat },
          controller,
          details: { ...details, cancelRequested },
        };
        expect((await runBody(work, options)).outcome).toEqual({ status: 'fulfilled', value: true });
      }
    });

    it('ends when the process is shutting down', async () => {
      const controller = new AbortController();
      const draining = new AbortController();
      const work = async (signal: AbortSignal) => {
        controller.abort(new CancelledFailure('NOT_FOUND'));
        draining.abort();
        signal.throwIfAborted();
      };
      const run = await runBody(work, { scope, controller, details, draining: draining.signal });
      expect(failureOf(run)).toMatchObject({ nonRetryable: false });
    });
  });
});

describe('a failed attempt', () => {
  it('that a retry cannot fix is final at once', async () => {
    const failure = failureOf(await runBody(() => Promise.reject(new GitError('ref-not-found'))));
    expect(failure).toMatchObject({ type: 'ref_not_found', nonRetryable: true });
  });

  it.each([
    [1, 1_000, false],
    [2, 2_000, false],
    [6, 32_000, false],
    [7, null, true],
  ])('number %d of an unreachable server waits %s ms (final: %s)', async (count, delay, isFinal) => {
    const scope = { countFailure: () => Promise.resolve(count) };
    const failure = failureOf(await runBody(() => Promise.reject(new GitError('unreachable')), { scope }));
    expect(failure).toMatchObject({ type: 'repository_unreachable', nonRetryable: isFinal });
    expect(failure.nextRetryDelay ?? null).toBe(delay);
  });

  it('is retried when the database cannot count it', async () => {
    const scope = { countFailure: () => Promise.reject(new Error('down')) };
    const failure = failureOf(await runBody(() => Promise.reject(new GitError('ref-not-found')), { scope }));
    expect(failure.nonRetryable).toBe(false);
  });

  it('puts nothing of the error into the history, and no secret into the log', async () => {
    const cause = new RangeError(`bad ${secret}`);
    const run = await runBody(() => Promise.reject(new Error(`refused ${secret}`, { cause })));
    const failure = failureOf(run);
    expect(failure.cause).toBeUndefined();
    expect(`${failure.message}${failure.stack}`).not.toContain(secret);
    expect(run.logged).toContain('bad [redacted]');
    expect(run.logged).not.toContain(secret);
  });
});
