import { createListener } from './listener.ts';

export interface WorkNoticeDeps {
  url: string;
  applicationName?: string;
  /** Time without new work after which it counts as quiet; longer than the leases of work. */
  quietAfterMs?: number;
  /** Interval between attempts to open a connection that broke. */
  reopenEveryMs?: number;
}

/** Listens for work that is written for any process: starts, cancellations, deliveries, histories, indexes, merges; and for newer indexes. */
export function createWorkNotices(deps: WorkNoticeDeps) {
  const { url, applicationName = 'docket-work', quietAfterMs = 15_000, reopenEveryMs = 1_000 } = deps;
  let heardAt = performance.now();
  const hear = () => void (heardAt = performance.now());
  const listener = createListener({ url, channel: 'due_work', applicationName, onNotice: hear, onOpen: hear });
  void listener.open();
  const timer = setInterval(() => void listener.open(), reopenEveryMs);
  timer.unref();

  return {
    /** False while notices may be missed, and for some time after each. */
    isQuiet: (): boolean => listener.isListening() && performance.now() - heardAt >= quietAfterMs,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await listener[Symbol.asyncDispose]();
    },
  };
}
