import { AsyncLocalStorage } from 'node:async_hooks';

/** Tracks the organization of the current request across everything the request awaits. */
export interface RequestHolders {
  /** Serves a request whose organization is not known yet. */
  run<Result>(serve: () => Result): Result;
  /** Sets the organization of the current request. */
  name(organizationId: string): void;
  /** Returns the organization of the current request; null outside a request or before `name` is called. */
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
