import { Client } from '@temporalio/client';
import { createDataConverter } from '../lib/encryption/data-converter.ts';
import type { EncryptionKey } from '../lib/encryption/keys.ts';
import { createTemporalConnection } from '../lib/temporal/temporal-connection.ts';
import type { TemporalCredentialSource, TemporalSettings } from '../lib/temporal/temporal-credentials.ts';

export interface TemporalOptions {
  settings: TemporalSettings;
  credentials: TemporalCredentialSource;
  /** Keys that encrypt payloads. */
  encryptionKeys: readonly EncryptionKey[];
}

/** Creates a client that connects at its first call, and again after an outage. An outage does not end the process. */
export function createTemporalClient({
  settings,
  credentials,
  encryptionKeys,
}: TemporalOptions): AsyncDisposable & { client: Client } {
  const { address, namespace } = settings;
  const connection = createTemporalConnection({
    address,
    credentials,
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 500, 'grpc.max_reconnect_backoff_ms': 2_000 },
  });
  return {
    client: new Client({ connection, namespace, dataConverter: createDataConverter(encryptionKeys) }),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}
