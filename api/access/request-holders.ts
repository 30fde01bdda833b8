import { AsyncLocalStorage } from 'node:async_hooks';

export type RequestHolders = ReturnType<typeof createRequestHolders>;

/** Tracks the organization of the current request across everything the request awaits. */
export function createRequestHolders() {
  const requests = new AsyncLocalStorage<{ holder: string | null }>();
  return {
    /** Serves a request whose organization is not known yet. */
    run: <Result>(serve: () => Result): Result => requests.run({ holder: null }, serve),
    /** Sets the organization of the current request. */
    name(organizationId: string): void {
      const request = requests.getStore();
      if (request !== undefined) request.holder = organizationId;
    },
    /** Returns the organization of the current request; null outside a request or before `name` is called. */
    current: (): string | null => requests.getStore()?.holder ?? null,
  };
}
