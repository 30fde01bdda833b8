import type { Client } from '@temporalio/client';
import type { EncryptionKey } from '../lib/encryption/keys.ts';
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
  /** Returns the client, which connects at its first call and again after an outage. An outage does not end the process. */
  connect(): Promise<Client>;
  close(): Promise<void>;
}

/** Reads the credentials now; Temporal's SDK is loaded at the first call of `connect`. */
export function createTemporalClient({ settings, encryptionKeys, ...options }: TemporalOptions): TemporalClient {
  const { address, namespace } = settings;
  const credentials = openTemporalCredentials(settings, options);
  const channelArgs = { 'grpc.initial_reconnect_backoff_ms': 500, 'grpc.max_reconnect_backoff_ms': 2_000 };

  async function open() {
    const [{ Client }, { createDataConverter }, { createTemporalConnection }] = await Promise.all([
      import('@temporalio/client'),
      import('../lib/encryption/data-converter.ts'),
      import('../lib/temporal/temporal-connection.ts'),
    ]);
    const connection = createTemporalConnection({ address, credentials, channelArgs });
    const dataConverter = createDataConverter(encryptionKeys);
    return { connection, client: new Client({ connection, namespace, dataConverter }) };
  }

  let opened: ReturnType<typeof open> | null = null;
  return {
    async connect() {
      opened ??= open();
      return (await opened).client;
    },
    async close() {
      credentials[Symbol.dispose]();
      if (opened !== null) await (await opened).connection.close();
    },
  };
}
