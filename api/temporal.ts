import { Client, Connection } from '@temporalio/client';

/** A client that connects when it is first used and again whenever the engine comes back; its absence stops nothing. */
export function createTemporalClient({ address, namespace }: { address: string; namespace: string }): {
  client: Client;
  close(): Promise<void>;
} {
  const connection = Connection.lazy({
    address,
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 500, 'grpc.max_reconnect_backoff_ms': 2_000 },
  });
  return { client: new Client({ connection, namespace }), close: () => connection.close() };
}
