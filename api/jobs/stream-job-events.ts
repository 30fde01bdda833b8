import type { StreamOutput } from '../http/streams/stream-output.ts';
import type { JobEventReader } from './job-event-feed.ts';

export interface StreamJobEventsOptions {
  reader: JobEventReader;
  /** Number of the last event the client has received. */
  after: number;
  output: StreamOutput;
  /** Ends the stream between two events. */
  stopping: AbortSignal;
}

/** Sends a job's events as they are appended, once each and in order, until the job is no longer active. */
export async function streamJobEvents({ reader, after, output, stopping }: StreamJobEventsOptions): Promise<void> {
  const signal = AbortSignal.any([output.gone, stopping]);
  for (let last = after; !signal.aborted;) {
    const page = await reader.read(last);
    ({ last } = page);
    output.write(page.text);
    const blocked = output.blocked();
    if (blocked !== null) await blocked;
    if (page.isFull) continue;
    if (page.status !== 'active') break;
    await reader.changed(signal);
  }
  await output.end();
}
