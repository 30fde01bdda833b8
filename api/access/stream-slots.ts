import { tooManyStreams } from '../http/errors.ts';

/** Takes one of an organization's streams until it is disposed of. Throws 429 when all are taken. */
export type TakeStreamSlot = (organizationId: string) => Disposable;

/** Streams of events that an organization may have open at this process: one that leaves them open harms nobody else. */
export function createStreamSlots({ most }: { most: number }): TakeStreamSlot {
  const taken = new Map<string, number>();
  return (organizationId) => {
    const count = taken.get(organizationId) ?? 0;
    if (count >= most) throw tooManyStreams(most);
    taken.set(organizationId, count + 1);
    let isOpen = true;
    return {
      [Symbol.dispose]() {
        if (!isOpen) return;
        isOpen = false;
        const left = (taken.get(organizationId) ?? 1) - 1;
        if (left > 0) taken.set(organizationId, left);
        else taken.delete(organizationId);
      },
    };
  };
}
