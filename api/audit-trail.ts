import type { AuditStore } from '../db/audit.ts';
import type { ApiKey } from './api-key.ts';

/** Notes what the holder of a key did. */
export type NoteAction = (
  key: ApiKey,
  entry: { action: string; subject: string; details?: Record<string, unknown> },
) => Promise<void>;

export function createAuditTrail({ audit }: { audit: Pick<AuditStore, 'write'> }): NoteAction {
  return (key, entry) => {
    const { organizationId, id: keyId, sessionId = null } = key;
    return audit.write({ organizationId, keyId, sessionId }, entry);
  };
}
