import { setTimeout as wait } from 'node:timers/promises';
import type { Owner } from '../../db/caller.ts';
import type { JobEventBell } from '../../db/jobs/job-event-wakeups.ts';
import type { JobListStore } from '../../db/jobs/job-lists.ts';
import { serverSentEvent } from '../http/streams/event-stream.ts';
import { presentListedJob } from './present-listed-job.ts';
import type { StreamOutput } from '../http/streams/stream-output.ts';

export interface StreamJobChangesOptions {
  owner: Owner;
  projectId?: string;
  /** Time, in microseconds, after which changes are sent. */
  afterMicros: string;
  lists: Pick<JobListStore, 'listChanged'>;
  bell: JobEventBell;
  output: StreamOutput;
  stopping: AbortSignal;
  /** Maximum time between two queries, even without a wakeup. */
  lookEveryMs: number;
  /** Minimum time between two queries, so that many changes of a job become one. */
  restMs: number;
}

/**
 * Overlap with the previous query. A change becomes visible only when its transaction commits, so changes this much
 * older than the newest one are queried again.
 */
const overlapMicros = 10_000_000n;
const pageSize = 200;

/** Sends the current state of each created or changed job until the reader disconnects or the process stops. */
export async function streamJobChanges(options: StreamJobChangesOptions): Promise<void> {
  const { owner, projectId, lists, bell, output, stopping } = options;
  const signal = AbortSignal.any([output.gone, stopping]);
  /** Changes sent recently: job id → time of the change. */
  const sent = new Map<string, string>();
  let newest = BigInt(options.afterMicros);
  while (!signal.aborted) {
    const from = newest - overlapMicros;
    let after = { updatedMicros: String(from < 0n ? 0n : from), id: '' };
    for (let isMore = true; isMore && !signal.aborted;) {
      const jobs = await lists.listChanged(owner, { projectId, after, limit: pageSize });
      for (const job of jobs) {
        const { id, updatedMicros } = job;
        after = { updatedMicros, id };
        if (sent.get(id) === updatedMicros) continue;
        sent.set(id, updatedMicros);
        if (BigInt(updatedMicros) > newest) newest = BigInt(updatedMicros);
        output.write(serverSentEvent({ id: newest, type: 'job', data: presentListedJob(job) }));
      }
      const blocked = output.blocked();
      if (blocked !== null) await blocked;
      isMore = jobs.length === pageSize;
    }
    for (const [id, updatedMicros] of sent) if (BigInt(updatedMicros) < newest - overlapMicros) sent.delete(id);
    await bell.next({ withinMs: options.lookEveryMs, signal });
    await wait(options.restMs, undefined, { signal }).catch(() => undefined);
  }
  await output.end();
}
