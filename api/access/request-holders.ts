import { AsyncLocalStorage } from 'node:async_hooks';

/** Remembers through all that a request awaits which organization it is served for. */
export interface RequestHolders {
  /** Serves a request; nobody is known to be its holder yet. */
  run<Result>(serve: () => Result): Result;
  /** From here on, the request is served for this organization. */
  name(organizationId: string): void;
  /** The organization of the request that is being served; null: none is, or it has not been named. */
  current(): string | null;
}

export function createRequestHolders(): RequestHolders {
  const requests = new AsyncLocalStorage<{ holder: string | null }>();
  return {
    run: (serve) => requests.run({ holder: null }, serve),
    name(organizationId) {
      const request = requests.getStore();
      if (request !== undefined) request.holder = organizationId;
    },
    current: () => requests.getStore()?.holder ?? null,
  };
}
