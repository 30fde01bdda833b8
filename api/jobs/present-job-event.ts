import type { JobEventRow } from '../../db/jobs/job-events.ts';
import type { PublicJobEvent } from './job-schemas.ts';

/** Returns the public form of an event, field by field. Its data is public as stored. */
export function presentJobEvent({ seq, turn, step, type, data, createdAt }: JobEventRow): PublicJobEvent {
  return { seq, turn, step, type, createdAt: createdAt.toISOString(), data };
}
