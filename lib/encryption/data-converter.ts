import { join } from 'node:path';
import type { DataConverter } from '@temporalio/common';
import type { EncryptionKey } from './keys.ts';
import { createPayloadCodec } from './payload-codec.ts';

/** The module that the workflow bundle includes when payloads are sealed. */
const failureConverterPath = join(import.meta.dirname, 'failure-converter.ts');

/**
 * Returns the data converter that every client, worker and replayer passes to Temporal's SDK. With keys, failure
 * messages and stack traces are payloads too and therefore sealed; without keys, they stay readable in Temporal's UI.
 */
export function createDataConverter(keys: readonly EncryptionKey[]): DataConverter {
  const payloadCodecs = [createPayloadCodec(keys)];
  return keys.length === 0 ? { payloadCodecs } : { payloadCodecs, failureConverterPath };
}
