import { createHash } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import { parseEncryptionKeys, type EncryptionKey } from '../../encryption/keys.ts';

/** Keys by their ids; one id is one key. */
export function testKeys(...ids: string[]): EncryptionKey[] {
  return parseEncryptionKeys(testKeysText(...ids));
}

/** The same as `DOCKET_ENCRYPTION_KEYS` has them. */
export function testKeysText(...ids: string[]): string {
  return ids.map((id) => `${id}:${createHash('sha256').update(id).digest('base64')}`).join(',');
}

/** All that somebody who reads the engine's store can read of an execution. */
export async function readableHistory(handle: WorkflowHandle): Promise<string> {
  const stored = proto.temporal.api.history.v1.History.encode(await handle.fetchHistory()).finish();
  return Buffer.from(stored).toString('utf8');
}
