import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { createFairShares } from './fair-shares.ts';
import { ConnectionError } from './store-down.ts';

/** An organization waited too long for a connection, because its other requests use up its share. */
export class ConnectionShareError extends Error {
  override name = 'ConnectionShareError';
}

export interface FairPoolConfig extends PoolConfig {
  max: number;
  /** Longest wait of a holder for a connection of its share. */
  connectionTimeoutMillis: number;
  /** Returns the holder that a connection is for; null for the process itself, which needs no share. */
  holderOf: () => string | null;
}

interface Waiter {
  holder: string;
  grant: (giveBack: () => void) => void;
}

type OnConnected = (
  error: Error | undefined,
  client: PoolClient | undefined,
  release: (error?: Error | boolean) => void,
) => void;

/** A pool that divides its connections fairly: a holder beyond its share waits until it returns one of its own. */
export class FairPool extends Pool {
  readonly #shares;
  readonly #holderOf;
  readonly #waitMs;
  readonly #waiting = new Set<Waiter>();

  constructor({ holderOf, ...config }: FairPoolConfig) {
    super(config);
    this.#shares = createFairShares(config.max);
    this.#holderOf = holderOf;
    this.#waitMs = config.connectionTimeoutMillis;
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: OnConnected): void;
  override connect(callback?: OnConnected): Promise<PoolClient> | void {
    const holder = this.#holderOf();
    const connected = holder === null ? this.#open() : this.#connectFor(holder);
    if (callback === undefined) return connected;
    void handOver(connected, callback);
  }

  async #open(): Promise<PoolClient> {
    try {
      return await super.connect();
    } catch (cause) {
      throw new ConnectionError('No connection to PostgreSQL could be opened', { cause });
    }
  }

  async #connectFor(holder: string): Promise<PoolClient> {
    const giveBack = await this.#shareOf(holder);
    try {
      const client = await this.#open();
      const { release } = client;
      client.release = (error) => {
        giveBack();
        this.#grantNext();
        release(error);
      };
      return client;
    } catch (error) {
      giveBack();
      this.#grantNext();
      throw error;
    }
  }

  #shareOf(holder: string): Promise<() => void> {
    const taken = this.#shares.tryTake(holder);
    if (taken !== null) return Promise.resolve(taken);
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const waiter: Waiter = { holder, grant: resolve };
    const timer = setTimeout(() => {
      this.#waiting.delete(waiter);
      reject(new ConnectionShareError('The organization already uses its share of database connections.'));
    }, this.#waitMs);
    this.#waiting.add(waiter);
    return promise.finally(() => clearTimeout(timer));
  }

  /** Grants connections to the longest waiting whose holders have a share left. */
  #grantNext(): void {
    for (const waiter of this.#waiting) {
      const taken = this.#shares.tryTake(waiter.holder);
      if (taken === null) continue;
      this.#waiting.delete(waiter);
      waiter.grant(taken);
    }
  }
}

async function handOver(connected: Promise<PoolClient>, callback: OnConnected): Promise<void> {
  const taken = await connected.catch((error: Error) => error);
  if (taken instanceof Error) callback(taken, undefined, () => undefined);
  else callback(undefined, taken, taken.release);
}
