import type { Owner } from '../../db/caller.ts';
import type { JobEventBell } from '../../db/jobs/job-event-wakeups.ts';
import type { JobEventStore } from '../../db/jobs/job-events.ts';
import { presentJobEvent } from './present-job-event.ts';
import type { StreamOutput } from '../http/stream-output.ts';

export interface StreamJobEventsOptions {
  owner: Owner;
  jobId: string;
  /** Number of the last event the client has received. */
  after: number;
  events: Pick<JobEventStore, 'read'>;
  bell: JobEventBell;
  output: StreamOutput;
  /** Ends the stream between two events. */
  stopping: AbortSignal;
  /** Maximum time between two queries, even without a wakeup. */
  lookEveryMs: number;
}

const pageSize = 50;

/** Sends a job's events as they are appended, once each and in order, until the job is no longer active. */
export async function streamJobEvents(options: StreamJobEventsOptions): Promise<void> {
  const { owner, jobId, events, bell, output, stopping, lookEveryMs } = options;
  const signal = AbortSignal.any([output.gone, stopping]);
  let { after } = options;
  while (!signal.aborted) {
    const page = await events.read(owner, jobId, { after, limit: pageSize });
    for (const event of page.events) {
      const shown = presentJobEvent(event);
      output.write(`id: ${shown.seq}\nevent: ${shown.type}\ndata: ${JSON.stringify(shown)}\n\n`);
      after = shown.seq;
    }
    const blocked = output.blocked();
    if (blocked !== null) await blocked;
    if (page.events.length === pageSize) continue;
    // status and events come from one snapshot: when the job is not active, no further event follows
    if (page.status !== 'active') break;
    await bell.next({ withinMs: lookEveryMs, signal });
  }
  await output.end();
}
