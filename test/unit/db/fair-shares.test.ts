import { describe, expect, it } from 'vitest';
import { createFairShares } from '../../../db/fair-shares.ts';
import { fc } from '../../support/properties.ts';

function takeAll(slots: number, holders: string[]): Record<string, number> {
  const shares = createFairShares(slots);
  const held = Object.fromEntries(holders.map((holder) => [holder, 0]));
  for (let round = 0; round < slots; round += 1) {
    for (const holder of holders) if (shares.tryTake(holder) !== null) held[holder] = (held[holder] ?? 0) + 1;
  }
  return held;
}

describe('createFairShares', () => {
  it('gives one holder half of the slots, and several holders equal shares with room for another', () => {
    expect(takeAll(40, ['one'])).toEqual({ one: 20 });
    expect(takeAll(4, ['one'])).toEqual({ one: 2 });
    expect(takeAll(10, ['one'])).toEqual({ one: 5 });
    expect(takeAll(10, ['one', 'two'])).toEqual({ one: 4, two: 3 });
    expect(takeAll(1, ['one', 'two'])).toEqual({ one: 1, two: 0 });
  });

  it('never hands out more than there is, nor the last free slot to a holder of another, and releases once', () => {
    const action = fc.record({ holder: fc.constantFrom('one', 'two', 'three', 'four'), gives: fc.boolean() });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.array(action, { maxLength: 60 }), (slots, actions) => {
        const shares = createFairShares(slots);
        const taken = new Map<string, (() => void)[]>();
        for (const { holder, gives } of actions) {
          const own = taken.get(holder) ?? [];
          const last = gives ? own.pop() : undefined;
          last?.();
          last?.();
          if (gives) continue;
          const free = slots - [...taken.values()].flat().length;
          const slot = shares.tryTake(holder);
          expect(slot !== null).toBe(free > 0 && own.length <= free - 1);
          if (slot !== null) taken.set(holder, [...own, slot]);
        }
      }),
    );
  });
});
