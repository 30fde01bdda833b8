/** Slots that several holders share. */
export interface FairShares {
  /** Takes a slot, and answers how to give it back. Null: the holder has its share, or no slot is free. */
  tryTake(holder: string): (() => void) | null;
}

/**
 * Divides slots without knowing who comes next: a holder takes one more only while it holds no more than would stay free. One
 * alone gets half of them, two get a third each, and the last free slot goes to nobody who holds another.
 */
export function createFairShares(slots: number): FairShares {
  const held = new Map<string, number>();
  let free = slots;

  function giveBack(holder: string): void {
    const left = (held.get(holder) ?? 0) - 1;
    if (left > 0) held.set(holder, left);
    else held.delete(holder);
    free += 1;
  }

  return {
    tryTake(holder) {
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
