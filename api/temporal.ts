import { Client } from '@temporalio/client';
import { createDataConverter } from '../lib/encryption/data-converter.ts';
import type { EncryptionKey } from '../lib/encryption/keys.ts';
import { createTemporalConnection } from '../lib/temporal/temporal-connection.ts';
import {
  openTemporalCredentials,
  type TemporalCredentialOptions,
  type TemporalSettings,
} from '../lib/temporal/temporal-credentials.ts';

export interface TemporalOptions extends TemporalCredentialOptions {
  settings: TemporalSettings;
  /** Keys that encrypt payloads. */
  encryptionKeys: readonly EncryptionKey[];
}

export interface TemporalClient {
  client: Client;
  close(): Promise<void>;
}

/** Creates a client that connects on first use and reconnects after an outage, which does not stop the process. */
export function createTemporalClient({ settings, encryptionKeys, ...options }: TemporalOptions): TemporalClient {
  const { address, namespace } = settings;
  const credentials = openTemporalCredentials(settings, options);
  const channelArgs = { 'grpc.initial_reconnect_backoff_ms': 500, 'grpc.max_reconnect_backoff_ms': 2_000 };
  const connection = createTemporalConnection({ address, credentials, channelArgs });
  const dataConverter = createDataConverter(encryptionKeys);
  return {
    client: new Client({ connection, namespace, dataConverter }),
    async close() {
      credentials[Symbol.dispose]();
      await connection.close();
    },
  };
}
