import type { AuditStore } from '../db/audit.ts';
import type { ApiCaller } from './api-caller.ts';

/** Notes what the holder of a key did. */
export type NoteAction = (
  caller: ApiCaller,
  entry: { action: string; subject: string; details?: Record<string, unknown> },
) => Promise<void>;

export function createAuditTrail({ audit }: { audit: Pick<AuditStore, 'write'> }): NoteAction {
  return (caller, entry) => audit.write(caller, entry);
}
