import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { shareLooks } from '../../../lib/share-looks.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** Chores that look together, and the numbers of the looks after which one of them finds work. */
function stage({
  finds = [],
  fails = [],
  isQuiet = () => true,
}: {
  finds?: number[];
  fails?: number[];
  isQuiet?: () => boolean;
}) {
  const counted = { looks: 0 };
  const isDue = shareLooks({
    async look() {
      counted.looks += 1;
      if (fails.includes(counted.looks)) throw new Error('The database is down.');
      return { histories: false, merges: finds.includes(counted.looks) };
    },
    isQuiet,
  });
  const kinds = [isDue('histories'), isDue('merges')];
  return {
    /** Asks for all kinds of work a number of seconds later; returns the looks so far. */
    async looksAfter(seconds: number): Promise<number> {
      vi.advanceTimersByTime(seconds * 1_000);
      await Promise.allSettled(kinds.map((isKindDue) => isKindDue()));
      return counted.looks;
    },
    ask: () => Promise.all(kinds.map((isKindDue) => isKindDue())),
  };
}

it('looks once a second for all kinds of work while there may be some', async () => {
  const { ask, looksAfter } = stage({ finds: [2], isQuiet: () => false });
  expect(await ask()).toEqual([false, false]);
  expect(await looksAfter(0.999)).toBe(1);
  expect(await looksAfter(0.001)).toBe(2);
  expect(await ask()).toEqual([false, true]);
});

it('looks every five seconds while it is quiet, and at once when it no longer is', async () => {
  let isQuiet = true;
  const { looksAfter } = stage({ isQuiet: () => isQuiet });
  expect(await looksAfter(0)).toBe(1);
  expect(await looksAfter(4.9)).toBe(1);
  expect(await looksAfter(0.1)).toBe(2);
  expect(await looksAfter(1)).toBe(2);
  isQuiet = false;
  expect(await looksAfter(0)).toBe(3);
});

it.each([{ finds: [1] }, { fails: [1] }])('looks once a second for 15 seconds after %o', async (first) => {
  const { looksAfter } = stage(first);
  for (let look = 1; look <= 15; look += 1) expect(await looksAfter(look === 1 ? 0 : 1)).toBe(look);
  expect(await looksAfter(1)).toBe(15);
  expect(await looksAfter(4)).toBe(16);
});
