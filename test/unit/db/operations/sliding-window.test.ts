import { expect, it } from 'vitest';
import {
  fitsOneMore,
  remainingOf,
  resetSecondsOf,
  type SlidingWindow,
  usedOf,
} from '../../../../db/operations/sliding-window.ts';
import { fc, propertyRuns } from '../../../support/properties.ts';

const hour: SlidingWindow = { quota: 100, widthSeconds: 3_600, current: 0, previous: 0, elapsedSeconds: 0 };

const windows = fc
  .record({
    quota: fc.nat({ max: 50 }),
    widthSeconds: fc.integer({ min: 1, max: 86_400 }),
    current: fc.nat({ max: 50 }),
    previous: fc.nat({ max: 50 }),
    share: fc.double({ min: 0, max: 0.999, noNaN: true }),
  })
  .map(({ share, ...rest }) => ({ ...rest, elapsedSeconds: share * rest.widthSeconds }));

/** The same counter later, with nothing used meanwhile. */
function later(window: SlidingWindow, seconds: number): SlidingWindow {
  const at = window.elapsedSeconds + seconds;
  const buckets = Math.floor(at / window.widthSeconds);
  const elapsedSeconds = at - buckets * window.widthSeconds;
  if (buckets === 0) return { ...window, elapsedSeconds };
  return { ...window, current: 0, previous: buckets === 1 ? window.current : 0, elapsedSeconds };
}

it('counts the current bucket in full and the previous one by the share that the window still covers', () => {
  expect(usedOf({ ...hour, current: 10, previous: 40, elapsedSeconds: 900 })).toBe(40);
  expect(usedOf({ ...hour, current: 10, previous: 40, elapsedSeconds: 3_600 })).toBe(10);
});

it('frees a full bucket only as it ages, not all at once after a boundary', () => {
  expect(fitsOneMore({ ...hour, previous: 100, elapsedSeconds: 1 })).toBe(false);
  expect(resetSecondsOf({ ...hour, previous: 100, elapsedSeconds: 0 })).toBe(36);
  expect(fitsOneMore({ ...hour, previous: 100, elapsedSeconds: 36 })).toBe(true);
});

it('names the end of the current bucket while something fits', () => {
  expect(remainingOf({ ...hour, current: 1 })).toBe(99);
  expect(resetSecondsOf({ ...hour, current: 1, elapsedSeconds: 600 })).toBe(3_000);
});

it('names the exact wait: not a second too long, and never too short', () => {
  fc.assert(
    fc.property(windows, (window) => {
      const seconds = resetSecondsOf(window);
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(2 * window.widthSeconds);
      fc.pre(!fitsOneMore(window) && window.quota >= 1);
      // a small tolerance for sums of binary fractions
      expect(usedOf(later(window, seconds)) + 1).toBeLessThanOrEqual(window.quota + 1e-6);
      if (seconds > 1) expect(usedOf(later(window, seconds - 1)) + 1).toBeGreaterThan(window.quota - 1e-6);
    }),
    { numRuns: propertyRuns(2_000) },
  );
});

it('reports that something remains exactly when one more fits', () => {
  fc.assert(fc.property(windows, (window) => remainingOf(window) >= 1 === fitsOneMore(window)));
});
