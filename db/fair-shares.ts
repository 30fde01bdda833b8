/**
 * Divides slots without knowing the future holders: a holder may take another slot only if it holds no more than would
 * stay free. A single holder gets half of the slots, two get a third each. The last free slot is reserved for a holder
 * that has none.
 */
export function createFairShares(slots: number) {
  const held = new Map<string, number>();
  let free = slots;

  function giveBack(holder: string): void {
    const left = (held.get(holder) ?? 0) - 1;
    if (left > 0) held.set(holder, left);
    else held.delete(holder);
    free += 1;
  }

  return {
    /** Takes a slot and returns the function that releases it. Null when the holder has its share or no slot is free. */
    tryTake(holder: string): (() => void) | null {
      const own = held.get(holder) ?? 0;
      if (free === 0 || own > free - 1) return null;
      held.set(holder, own + 1);
      free -= 1;
      let isHeld = true;
      return () => {
        if (isHeld) giveBack(holder);
        isHeld = false;
      };
    },
  };
}
