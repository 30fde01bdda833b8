import { expect, it } from 'vitest';
import { createInFlight } from '../../../lib/in-flight.ts';

it('lists what was added and not removed, whatever the order of removals', () => {
  const inFlight = createInFlight<number>();
  const removals = Array.from({ length: 6 }, (_, item) => inFlight.add(item));
  const expected = new Set(removals.keys());
  // the last one, the first one, one that took the place of another, and those that are left
  for (const item of [5, 0, 4, 2, 1, 3]) {
    removals[item]!();
    expected.delete(item);
    expect(new Set(inFlight.list())).toEqual(expected);
    // a second removal does not remove another item
    removals[item]!();
    expect(inFlight.list()).toHaveLength(expected.size);
  }
});
