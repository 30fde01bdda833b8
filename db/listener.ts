import { Client } from 'pg';

export interface ListenerDeps {
  url: string;
  channel: string;
  applicationName: string;
  onNotice(payload: string): void;
  /** Called each time the connection starts to listen, because earlier notifications may have been missed. */
  onOpen(): void;
  /** Called once for a connection that broke or could not be opened, until it listens again. */
  onConnectionLost?: (error: unknown) => void;
}

/** A connection of its own that listens to a channel. */
export function createListener(deps: ListenerDeps) {
  let connection: Client | null = null;
  let listening: Client | null = null;
  let isUp = true;

  /** Opens the connection if it is closed. Never throws; the owner calls it again from time to time. */
  async function open(): Promise<void> {
    if (connection !== null) return;
    const client = new Client({
      connectionString: deps.url,
      application_name: deps.applicationName,
      connectionTimeoutMillis: 2_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    connection = client;
    client.on('notification', ({ payload = '' }) => deps.onNotice(payload));
    client.on('error', drop);
    client.on('end', () => drop(null));
    try {
      await client.connect();
      await client.query(`listen ${client.escapeIdentifier(deps.channel)}`);
      isUp = true;
      listening = client;
      deps.onOpen();
    } catch (error) {
      drop(error);
    }

    function drop(error: unknown): void {
      if (connection !== client) return;
      connection = null;
      if (isUp) deps.onConnectionLost?.(error);
      isUp = false;
      void closed(client);
    }
  }

  return {
    isListening: (): boolean => connection !== null && connection === listening,
    open,
    async [Symbol.asyncDispose]() {
      const client = connection;
      connection = null;
      if (client !== null) await closed(client);
    },
  };
}

async function closed(client: Client): Promise<void> {
  await client.end().catch(() => undefined);
}
