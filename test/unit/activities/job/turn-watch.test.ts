import { ApplicationFailure } from '@temporalio/common';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { createTurnWatch } from '../../../../activities/job/turn-watch.ts';
import type { TurnRef } from '../../../../workflows/contract/job.ts';

const turn = { jobId: 'job_1', turn: 1 };

/** A watch over turns that a test ends. */
function watchOver(ended: TurnRef[]) {
  const asked: TurnRef[][] = [];
  let failures = 1;
  const endedTurns = async (turns: TurnRef[]) => {
    asked.push(turns);
    failures -= 1;
    if (failures === 0) throw new Error('The database is away.');
    return turns.filter(({ jobId, turn }) => ended.some((other) => other.jobId === jobId && other.turn === turn));
  };
  return { asked, watchTurn: createTurnWatch({ endedTurns, everyMs: 5 }) };
}

it('stops the work on an ended turn, even after a database outage, and nothing else', async () => {
  const { watchTurn } = watchOver([turn]);
  using ended = watchTurn(turn);
  using twin = watchTurn(turn);
  using newer = watchTurn({ ...turn, turn: 2 });
  await Promise.all([once(ended.signal, 'abort'), once(twin.signal, 'abort')]);
  expect(ended.signal.reason).toBeInstanceOf(ApplicationFailure);
  expect(ended.signal.reason).toMatchObject({ type: 'superseded', nonRetryable: true });
  expect(newer.signal.aborted).toBe(false);
});

it('queries once for all work on a turn, and not at all without work', async () => {
  const { asked, watchTurn } = watchOver([turn]);
  {
    using first = watchTurn(turn);
    using _second = watchTurn(turn);
    await once(first.signal, 'abort');
  }
  expect(asked.every((turns) => turns.length === 1)).toBe(true);
  const soFar = asked.length;
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(asked.length - soFar).toBeLessThanOrEqual(1);
});
