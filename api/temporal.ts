import { Client, Connection } from '@temporalio/client';
import { createDataConverter } from '../encryption/data-converter.ts';
import type { EncryptionKey } from '../encryption/keys.ts';

export interface TemporalOptions {
  address: string;
  namespace: string;
  /** What payloads are sealed with. */
  encryptionKeys: readonly EncryptionKey[];
}

export interface TemporalClient {
  client: Client;
  close(): Promise<void>;
}

/** A client that connects when it is first used and again whenever the engine comes back; its absence stops nothing. */
export function createTemporalClient({ address, namespace, encryptionKeys }: TemporalOptions): TemporalClient {
  const connection = Connection.lazy({
    address,
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 500, 'grpc.max_reconnect_backoff_ms': 2_000 },
  });
  const dataConverter = createDataConverter(encryptionKeys);
  return { client: new Client({ connection, namespace, dataConverter }), close: () => connection.close() };
}
