import { pino } from 'pino';
import { expect, it } from 'vitest';
import { repeat } from '../../../lib/repeat.ts';

const log = pino({ level: 'silent' });

function createChore() {
  const started = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const rounds: string[] = [];
  return {
    started: started.promise,
    release: gate.resolve,
    rounds,
    async work() {
      rounds.push('begun');
      started.resolve();
      await gate.promise;
      rounds.push('ended');
    },
  };
}

it.each([
  [false, ['begun', 'ended']],
  [true, ['begun', 'ended', 'begun', 'ended']],
])('waits for the current round when it is stopped; runs a last one: %s', async (isRunAtEnd, expected) => {
  const chore = createChore();
  const running = repeat({ name: 'test', everyMs: 1, isRunAtEnd, work: chore.work, log });
  await chore.started;
  const stopped = running[Symbol.asyncDispose]();
  expect(chore.rounds).toEqual(['begun']);
  chore.release();
  await stopped;
  expect(chore.rounds).toEqual(expected);
});

it('logs the first failure of a streak only', async () => {
  const lines: string[] = [];
  const enough = Promise.withResolvers<void>();
  let rounds = 0;
  const work = async () => {
    rounds += 1;
    if (rounds === 3) return;
    if (rounds === 5) enough.resolve();
    throw new Error(`round ${rounds}`);
  };
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  await using running = repeat({ name: 'test', everyMs: 1, work, log });
  await enough.promise;
  await running[Symbol.asyncDispose]();
  expect(lines.map((line) => (JSON.parse(line) as { err: Error }).err.message)).toEqual(['round 1', 'round 4']);
});
