import { Connection, type ConnectionLike, type ConnectionOptions } from '@temporalio/client';
import type { TemporalCredentials, TemporalCredentialSource } from './temporal-credentials.ts';

export interface TemporalConnectionOptions {
  address: string;
  credentials: TemporalCredentialSource;
  channelArgs?: ConnectionOptions['channelArgs'];
}

/** A connection to Temporal that is made when it is first used, and anew when the credentials change. */
export function createTemporalConnection(options: TemporalConnectionOptions): ConnectionLike & AsyncDisposable {
  const { address, credentials, channelArgs } = options;
  const open = ({ tls, apiKey }: TemporalCredentials) => Connection.lazy({ address, tls, apiKey, channelArgs });
  let connection = open(credentials.current());
  const changes = credentials.onChange((next) => {
    const previous = connection;
    connection = open(next);
    // what it was asked for is still answered
    void previous.close();
  });
  async function close(): Promise<void> {
    changes[Symbol.dispose]();
    await connection.close();
  }
  return {
    get workflowService() {
      return connection.workflowService;
    },
    get operatorService() {
      return connection.operatorService;
    },
    get plugins() {
      return connection.plugins;
    },
    ensureConnected: () => connection.ensureConnected(),
    withDeadline: (deadline, work) => connection.withDeadline(deadline, work),
    withMetadata: (metadata, work) => connection.withMetadata(metadata, work),
    withAbortSignal: (signal, work) => connection.withAbortSignal(signal, work),
    close,
    [Symbol.asyncDispose]: close,
  };
}
