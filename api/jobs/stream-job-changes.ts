import { setTimeout as wait } from 'node:timers/promises';
import type { Owner } from '../../db/caller.ts';
import type { JobEventBell } from '../../db/jobs/job-event-wakeups.ts';
import type { JobListStore } from '../../db/jobs/job-lists.ts';
import { presentListedJob } from './present-listed-job.ts';
import type { StreamOutput } from '../http/stream-output.ts';

export interface StreamJobChangesOptions {
  owner: Owner;
  projectId?: string;
  /** Changes after this moment are sent, in microseconds. */
  afterMicros: string;
  lists: Pick<JobListStore, 'listChanged'>;
  bell: JobEventBell;
  output: StreamOutput;
  stopping: AbortSignal;
  /** The longest time between two looks, whatever the bell does. */
  lookEveryMs: number;
  /** The shortest time between two looks: many changes of a job become one. */
  restMs: number;
}

/** A change may be seen only when its transaction has ended: what began so long before the newest one is asked for again. */
const overlapMicros = 10_000_000n;
const pageSize = 200;

/** Sends each job that was made or changed, as it is then, until the reader leaves or the process stops. */
export async function streamJobChanges(options: StreamJobChangesOptions): Promise<void> {
  const { owner, projectId, lists, bell, output, stopping } = options;
  const signal = AbortSignal.any([output.gone, stopping]);
  /** What was sent of late: id → time of the change. */
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
        output.write(`id: ${newest}\nevent: job\ndata: ${JSON.stringify(presentListedJob(job))}\n\n`);
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
