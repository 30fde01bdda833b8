import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createDuePoll } from '../../../lib/due-poll.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** Chores that poll together, and the numbers of the polls after which one of them finds work. */
function stage({
  finds = [],
  fails = [],
  isQuiet = () => true,
}: {
  finds?: number[];
  fails?: number[];
  isQuiet?: () => boolean;
}) {
  const counted = { polls: 0 };
  const isDue = createDuePoll({
    async poll() {
      counted.polls += 1;
      if (fails.includes(counted.polls)) throw new Error('The database is down.');
      return { histories: false, merges: finds.includes(counted.polls) };
    },
    isQuiet,
  });
  const kinds = [isDue('histories'), isDue('merges')];
  return {
    /** Asks for all kinds of work a number of seconds later; returns the polls so far. */
    async pollsAfter(seconds: number): Promise<number> {
      vi.advanceTimersByTime(seconds * 1_000);
      await Promise.allSettled(kinds.map((isKindDue) => isKindDue()));
      return counted.polls;
    },
    ask: () => Promise.all(kinds.map((isKindDue) => isKindDue())),
  };
}

it('polls once a second for all kinds of work while there may be some', async () => {
  const { ask, pollsAfter } = stage({ finds: [2], isQuiet: () => false });
  expect(await ask()).toEqual([false, false]);
  expect(await pollsAfter(0.999)).toBe(1);
  expect(await pollsAfter(0.001)).toBe(2);
  expect(await ask()).toEqual([false, true]);
});

it('polls every five seconds while it is quiet, and at once when it no longer is', async () => {
  let isQuiet = true;
  const { pollsAfter } = stage({ isQuiet: () => isQuiet });
  expect(await pollsAfter(0)).toBe(1);
  expect(await pollsAfter(4.9)).toBe(1);
  expect(await pollsAfter(0.1)).toBe(2);
  expect(await pollsAfter(1)).toBe(2);
  isQuiet = false;
  expect(await pollsAfter(0)).toBe(3);
});

it.each([{ finds: [1] }, { fails: [1] }])('polls once a second for 15 seconds after %o', async (first) => {
  const { pollsAfter } = stage(first);
  for (let poll = 1; poll <= 15; poll += 1) expect(await pollsAfter(poll === 1 ? 0 : 1)).toBe(poll);
  expect(await pollsAfter(1)).toBe(15);
  expect(await pollsAfter(4)).toBe(16);
});
