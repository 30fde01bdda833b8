type Handlers = Record<string, (input: any) => unknown>;

/** Serves the calls of the bench's main process until it exits; `close` runs before this process ends. */
export function answerParent(handlers: Handlers, close: () => Promise<void> | void = () => {}): void {
  const all: Handlers = { ready: () => null, ...handlers };
  process.on('message', ({ id, handler, input }: { id: number; handler: string; input: unknown }) => {
    void answer(all, handler, input).then((answered) => process.send?.({ id, ...answered }));
  });
  const end = async () => {
    await close();
    process.exit(0);
  };
  process.on('disconnect', () => void end());
  process.on('SIGTERM', () => void end());
}

async function answer(handlers: Handlers, handler: string, input: unknown) {
  try {
    return { result: await handlers[handler]?.(input) };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
