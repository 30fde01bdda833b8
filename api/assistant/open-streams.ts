import { GenerationError } from './generate.ts';

/** Why a reply ends when its process does; it travels in the stream. */
const shuttingDown = 'The answer broke off because the service is restarting. Please ask again.';

/** The streams of this process, so that a shutdown can wait for them and then end them properly. */
export class OpenStreams {
  readonly #running = new Map<AbortController, Promise<unknown>>();
  #isDraining = false;

  /** Runs a stream; its signal is aborted with the sentence for the reader when the process has to go. */
  async run(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    const running = work(controller.signal);
    this.#running.set(controller, running);
    try {
      await running;
    } finally {
      this.#running.delete(controller);
    }
  }

  get size(): number {
    return this.#running.size;
  }

  /** Whether the process is about to go: it begins no further stream. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Lets streams go on for `graceMs`, then tells them to end, and resolves when all have. */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    const timer = setTimeout(() => {
      for (const controller of this.#running.keys()) controller.abort(new GenerationError(shuttingDown));
    }, graceMs);
    await Promise.allSettled(this.#running.values());
    clearTimeout(timer);
  }
}
