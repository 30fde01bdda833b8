import { Connection, type ConnectionLike, type ConnectionOptions } from '@temporalio/client';
import type { TemporalCredentials, TemporalCredentialSource } from './temporal-credentials.ts';

export interface TemporalConnectionOptions {
  address: string;
  credentials: TemporalCredentialSource;
  channelArgs?: ConnectionOptions['channelArgs'];
}

/** Channel arguments of every connection: gRPC would follow `http_proxy` even to a server on this machine. */
export const directChannel = { 'grpc.enable_http_proxy': 0 };

/** The SDK retries a call on the connection it started on; a connection closed meanwhile would end the process. */
const retiredForMs = 5 * 60_000;

/** Creates a connection to Temporal, opened on first use and again when the credentials change. */
export function createTemporalConnection(options: TemporalConnectionOptions): ConnectionLike & AsyncDisposable {
  const { address, credentials, channelArgs } = options;
  const open = ({ tls, apiKey }: TemporalCredentials) =>
    Connection.lazy({ address, tls, apiKey, channelArgs: { ...channelArgs, ...directChannel } });
  let connection = open(credentials.current());
  const retired = new Map<Connection, NodeJS.Timeout>();
  const changes = credentials.onChange((next) => {
    const previous = connection;
    connection = open(next);
    retired.set(previous, setTimeout(() => void close(previous), retiredForMs).unref());
  });
  async function close(one: Connection): Promise<void> {
    clearTimeout(retired.get(one));
    retired.delete(one);
    await one.close();
  }
  async function closeAll(): Promise<void> {
    changes[Symbol.dispose]();
    await Promise.all([...retired.keys(), connection].map(close));
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
    close: closeAll,
    [Symbol.asyncDispose]: closeAll,
  };
}
