import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Owner } from '../../db/caller.ts';
import { createJobEventBell, type JobEventBell, type JobEventWakeups } from '../../db/jobs/job-event-wakeups.ts';
import type { JobEventStore } from '../../db/jobs/job-events.ts';
import type { JobStatus } from '../../workflows/contract/job.ts';
import { serverSentEvent } from '../http/streams/event-stream.ts';
import { presentJobEvent } from './present-job-event.ts';

/** A page of events as a stream sends them. */
interface SentEvents {
  /** Server-sent events; empty if there were none. */
  text: string;
  /** Number of the last event; of the one before the page if there were none. */
  last: number;
  /** Whether the next page may have events already. */
  isFull: boolean;
  /** Status at the time of the page: an inactive job has no more events after a page that is not full. */
  status: JobStatus | null;
}

/** Reads a job's events for one watcher. */
export interface JobEventReader extends Disposable {
  /** Returns the events after `after`, in order. */
  read(after: number): Promise<SentEvents>;
  /** Resolves once the job has changed since the last call, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
}

interface WatchedJob {
  bells: Set<JobEventBell>;
  /** Pages since the last change by the event before them, the most recently used last. */
  pages: Map<number, Promise<SentEvents>>;
  subscription: Disposable;
}

const pageSize = 50;
/** Pages of a job that are shared, for watchers that have received different events. */
const pagesKept = 8;
/** Watchers that continue in one turn of the event loop, at about 30 µs each. */
const watchersPerTurn = 100;

export type JobEventFeed = ReturnType<typeof createJobEventFeed>;

/**
 * Creates the feed of job events of this process. All watchers of a job that have received the same events share one
 * query and one text; only those that fell behind query for themselves.
 */
export function createJobEventFeed(deps: {
  events: Pick<JobEventStore, 'read'>;
  wakeups: Pick<JobEventWakeups, 'onChange'>;
}) {
  const { events, wakeups } = deps;
  const watched = new Map<string, WatchedJob>();
  let turn: Promise<void> = Promise.resolve();
  let inTurn = 0;

  function watchedJob(key: string, jobId: string): WatchedJob {
    const known = watched.get(key);
    if (known !== undefined) return known;
    const bells = new Set<JobEventBell>();
    const subscription = wakeups.onChange(jobId, () => {
      job.pages.clear();
      for (const bell of bells) bell.ring();
    });
    const job: WatchedJob = { bells, pages: new Map(), subscription };
    watched.set(key, job);
    return job;
  }

  async function load(owner: Owner, jobId: string, after: number): Promise<SentEvents> {
    const page = await events.read(owner, jobId, { after, limit: pageSize });
    const shown = page.events.map(presentJobEvent);
    return {
      text: shown.map((event) => serverSentEvent({ id: event.seq, type: event.type, data: event })).join(''),
      last: shown.at(-1)?.seq ?? after,
      isFull: shown.length === pageSize,
      status: page.status,
    };
  }

  /** Spreads the watchers that waited for one page over several turns of the event loop. */
  function waitForTurn(): Promise<void> {
    if (inTurn === watchersPerTurn) {
      turn = turn.then(() => nextTurn());
      inTurn = 0;
    }
    inTurn += 1;
    return turn;
  }

  return {
    /** Starts watching a job of the owner. */
    watch(owner: Owner, jobId: string): JobEventReader {
      const key = `${owner.organizationId} ${jobId}`;
      const job = watchedJob(key, jobId);
      const bell = createJobEventBell();
      job.bells.add(bell);
      return {
        async read(after) {
          const page = job.pages.get(after) ?? load(owner, jobId, after);
          keep(job.pages, after, page);
          try {
            return await page;
          } catch (error) {
            if (job.pages.get(after) === page) job.pages.delete(after);
            throw error;
          } finally {
            await waitForTurn();
          }
        },
        changed: (signal) => bell.next({ signal }),
        [Symbol.dispose]() {
          job.bells.delete(bell);
          if (job.bells.size > 0 || watched.get(key) !== job) return;
          watched.delete(key);
          job.subscription[Symbol.dispose]();
        },
      };
    },
  };
}

/** Keeps a page as the most recently used one, instead of the one that was not used for longest. */
function keep(pages: WatchedJob['pages'], after: number, page: Promise<SentEvents>): void {
  pages.delete(after);
  pages.set(after, page);
  const [oldest] = pages.keys();
  if (oldest !== undefined && pages.size > pagesKept) pages.delete(oldest);
}
