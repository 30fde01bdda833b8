import type { ApiError } from '../http/errors.ts';

/** Takes one of the holder's stream slots until disposal. Throws 429 when all are taken. */
export type AcquireStreamSlot = (holder: string) => Disposable;

/** Limits the open streams per holder in this process, so that a holder that leaves them open affects no other. */
export function createStreamSlots({
  max,
  refusal,
}: {
  max: number;
  refusal: (max: number) => ApiError;
}): AcquireStreamSlot {
  const taken = new Map<string, number>();
  return (holder) => {
    const count = taken.get(holder) ?? 0;
    if (count >= max) throw refusal(max);
    taken.set(holder, count + 1);
    let isOpen = true;
    return {
      [Symbol.dispose]() {
        if (!isOpen) return;
        isOpen = false;
        const left = (taken.get(holder) ?? 1) - 1;
        if (left > 0) taken.set(holder, left);
        else taken.delete(holder);
      },
    };
  };
}
