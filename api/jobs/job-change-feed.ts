import { setTimeout as wait } from 'node:timers/promises';
import type { Owner } from '../../db/caller.ts';
import { createJobEventBell, type JobEventBell, type JobEventWakeups } from '../../db/jobs/job-event-wakeups.ts';
import type { JobListStore, ListedJobRow } from '../../db/jobs/job-lists.ts';
import { serverSentEvent } from '../http/streams/event-stream.ts';
import { presentListedJob } from './present-listed-job.ts';

export interface JobChangeFeedDeps {
  lists: Pick<JobListStore, 'listChanged' | 'nowMicros'>;
  wakeups: Pick<JobEventWakeups, 'onAnyChange'>;
  /** Maximum time between two queries, even without a wakeup. */
  pollEveryMs?: number;
  /** Minimum time between two queries, so that many changes of a job become one. */
  restMs?: number;
}

interface WatchedJobs {
  owner: Owner;
  projectId?: string;
}

interface JobChange {
  id: string;
  micros: bigint;
  text: string;
}

interface Watcher {
  bell: JobEventBell;
  /** The newest change of each job that it has yet to receive, in order. */
  pending: Map<string, JobChange>;
  /** Whether it runs its own query: at first, and after it fell too far behind. */
  isBehind: boolean;
}

/** Reads the changes for all watchers of the same jobs. */
interface SharedReader {
  watchers: Set<Watcher>;
  leaving: AbortController;
  /** Rejects when a query failed. */
  ended: Promise<void>;
  isEnded: boolean;
}

/**
 * Overlap with the previous query. A change becomes visible only when its transaction commits, so changes this much
 * older than the newest one are queried again.
 */
const overlapMicros = 10_000_000n;
const pageSize = 200;
const maxPending = 1_000;

/**
 * Creates the feed of changed jobs of this process. All watchers of an organization, or of one of its projects, share
 * the queries for new changes; each queries for itself what changed before it came.
 */
export function createJobChangeFeed({ lists, wakeups, pollEveryMs = 2_000, restMs = 250 }: JobChangeFeedDeps) {
  const readers = new Map<string, SharedReader>();

  /** Yields pages of changes that were not sent. */
  async function* readChanges({ owner, projectId }: WatchedJobs, sent: SentChanges): AsyncGenerator<JobChange[]> {
    let after = { updatedMicros: sent.queryFrom(), id: '' };
    for (let isMore = true; isMore;) {
      const jobs = await lists.listChanged(owner, { projectId, after, limit: pageSize });
      yield jobs.flatMap((job) => changeOf(job, sent));
      isMore = jobs.length === pageSize;
      after = jobs.at(-1) ?? after;
    }
    sent.forgetOld();
  }

  async function publishChanges(jobs: WatchedJobs, reader: Pick<SharedReader, 'watchers' | 'leaving'>): Promise<void> {
    const { signal } = reader.leaving;
    const bell = createJobEventBell();
    using _changes = wakeups.onAnyChange(bell.ring);
    const sent = createSentChanges(await lists.nowMicros());
    while (!signal.aborted) {
      for await (const changes of readChanges(jobs, sent)) {
        for (const watcher of reader.watchers) offer(watcher, changes);
        if (signal.aborted) return;
      }
      await bell.next({ withinMs: pollEveryMs, signal });
      await wait(restMs, undefined, { signal }).catch(() => undefined);
    }
  }

  function readerOf(jobs: WatchedJobs): SharedReader {
    const key = `${jobs.owner.organizationId} ${jobs.projectId ?? ''}`;
    const known = readers.get(key);
    if (known !== undefined) return known;
    const shared = { watchers: new Set<Watcher>(), leaving: new AbortController() };
    const forget = () => {
      if (readers.get(key) === reader) readers.delete(key);
    };
    const ended = publishChanges(jobs, shared).finally(() => {
      reader.isEnded = true;
      forget();
      for (const { bell } of shared.watchers) bell.ring();
    });
    // every watcher that awaits the end still gets the error
    ended.catch(() => undefined);
    const reader: SharedReader = { ...shared, ended, isEnded: false };
    shared.leaving.signal.addEventListener('abort', forget);
    readers.set(key, reader);
    return reader;
  }

  return {
    /**
     * Yields server-sent events with the current state of each job that was created or changed after a time in
     * microseconds, until the signal aborts. Only the newest state of a job is sent to a watcher that is slow.
     */
    async *watch(
      jobs: WatchedJobs,
      { afterMicros, signal }: { afterMicros: string; signal: AbortSignal },
    ): AsyncGenerator<string> {
      const reader = readerOf(jobs);
      const watcher: Watcher = { bell: createJobEventBell(), pending: new Map(), isBehind: true };
      reader.watchers.add(watcher);
      const sent = createSentChanges(afterMicros);
      try {
        while (!signal.aborted) {
          if (watcher.isBehind) {
            watcher.isBehind = false;
            for await (const changes of readChanges(jobs, sent)) {
              yield textOf(changes);
              if (signal.aborted) return;
            }
          }
          yield textOf(takePending(watcher).filter(({ id, micros }) => sent.add(id, micros)));
          sent.forgetOld();
          if (reader.isEnded) await reader.ended;
          await watcher.bell.next({ signal });
        }
      } finally {
        reader.watchers.delete(watcher);
        if (reader.watchers.size === 0) reader.leaving.abort();
      }
    },
  };
}

type SentChanges = ReturnType<typeof createSentChanges>;

function createSentChanges(afterMicros: string) {
  const times = new Map<string, bigint>();
  let newest = BigInt(afterMicros);
  return {
    /** Returns false for a change that was sent already, or that is older than what was sent of the job. */
    add(id: string, micros: bigint): boolean {
      const known = times.get(id);
      if (known !== undefined && known >= micros) return false;
      times.set(id, micros);
      if (micros > newest) newest = micros;
      return true;
    },
    newest: (): bigint => newest,
    /** Time after which changes may not have been sent. */
    queryFrom: (): string => String(newest < overlapMicros ? 0n : newest - overlapMicros),
    /** Forgets changes that are too old to be read again. */
    forgetOld(): void {
      for (const [id, micros] of times) if (micros < newest - overlapMicros) times.delete(id);
    },
  };
}

function changeOf(job: ListedJobRow, sent: SentChanges): JobChange[] {
  const [id, micros] = [job.id, BigInt(job.updatedMicros)];
  if (!sent.add(id, micros)) return [];
  return [{ id, micros, text: serverSentEvent({ id: sent.newest(), type: 'job', data: presentListedJob(job) }) }];
}

function offer(watcher: Watcher, changes: JobChange[]): void {
  const { pending, bell } = watcher;
  // a change sent before those that the watcher misses would hide them from its own query
  if (watcher.isBehind || changes.length === 0) return;
  for (const change of changes) {
    pending.delete(change.id);
    pending.set(change.id, change);
  }
  if (pending.size > maxPending) {
    pending.clear();
    watcher.isBehind = true;
  }
  bell.ring();
}

function takePending({ pending }: Watcher): JobChange[] {
  const changes = [...pending.values()];
  pending.clear();
  return changes;
}

function textOf(changes: JobChange[]): string {
  return changes.map(({ text }) => text).join('');
}
