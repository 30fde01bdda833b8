/** Reports whether the database holds work of one kind. */
export type IsDue = () => Promise<boolean>;

export interface DuePollDeps<Kind extends string> {
  /** Returns which kinds of work are due, by one query. */
  poll(): Promise<Record<Kind, boolean>>;
  /** Reports whether notices of new work arrive, and none has arrived lately. */
  isQuiet(): boolean;
}

const everyMs = 1_000;
const quietEveryMs = 5_000;
/** Work that was due may be due again when its lease expires. */
const busyMs = 15_000;

/**
 * Lets the chores of a process share one query for due work per second, and one per five seconds while it is quiet: an
 * idle process would otherwise send several queries a second, one for each kind of work.
 */
export function createDuePoll<Kind extends string>({ poll, isQuiet }: DuePollDeps<Kind>): (kind: Kind) => IsDue {
  let newest: { at: number; found: Promise<Record<Kind, boolean>> } | null = null;
  let busyAt = -Infinity;

  async function pollNow(): Promise<Record<Kind, boolean>> {
    try {
      const found = await poll();
      if (Object.values(found).includes(true)) busyAt = performance.now();
      return found;
    } catch (error) {
      busyAt = performance.now();
      throw error;
    }
  }

  return (kind) => async () => {
    const now = performance.now();
    const restMs = isQuiet() && now - busyAt >= busyMs ? quietEveryMs : everyMs;
    if (newest === null || now - newest.at >= restMs) newest = { at: now, found: pollNow() };
    return (await newest.found)[kind];
  };
}
