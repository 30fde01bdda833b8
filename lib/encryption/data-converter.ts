import { join } from 'node:path';
import type { DataConverter } from '@temporalio/common';
import type { EncryptionKey } from './keys.ts';
import { createPayloadCodec } from './payload-codec.ts';

/** The module that the workflow bundle takes in when payloads are sealed. */
export const failureConverterPath = join(import.meta.dirname, 'failure-converter.ts');

/**
 * What every client, worker and replayer passes to Temporal's SDK. With keys, messages and stack traces of failures are
 * payloads too, so that they are sealed; without, they stay readable in Temporal's UI.
 */
export function createDataConverter(keys: readonly EncryptionKey[]): DataConverter {
  const payloadCodecs = [createPayloadCodec(keys)];
  return keys.length === 0 ? { payloadCodecs } : { payloadCodecs, failureConverterPath };
}
