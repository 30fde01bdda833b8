import type { Owner } from '../../db/caller.ts';
import type { JobEventBell } from '../../db/jobs/job-event-wakeups.ts';
import type { JobEventStore } from '../../db/jobs/job-events.ts';
import { presentJobEvent } from './present-job-event.ts';
import type { StreamOutput } from '../http/stream-output.ts';

export interface StreamJobEventsOptions {
  owner: Owner;
  jobId: string;
  /** The number of the last event that the watcher has. */
  after: number;
  events: Pick<JobEventStore, 'read'>;
  bell: JobEventBell;
  output: StreamOutput;
  /** Ends the stream at an event boundary. */
  stopping: AbortSignal;
  /** The longest time between two looks, whatever the bell does. */
  lookEveryMs: number;
}

const pageSize = 50;

/** Sends a job's events as they are appended, each once and in order, until its turn has ended and no other began. */
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
    // status and events are of one moment: of a turn that has ended nothing follows
    if (page.status !== 'active') break;
    await bell.next({ withinMs: lookEveryMs, signal });
  }
  await output.end();
}
