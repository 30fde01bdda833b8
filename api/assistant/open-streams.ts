import { GenerationError } from './generate.ts';

/** Error sent in the stream when a shutdown ends a reply. */
const shuttingDown = 'The answer was interrupted because the service is restarting. Ask again.';

/** Tracks the streams of this process, so that a shutdown can wait for them and then end them properly. */
export class OpenStreams {
  readonly #running = new Map<AbortController, { organizationId: string; ended: Promise<unknown> }>();
  #isDraining = false;

  /**
   * Runs a stream of an organization. When the process must exit, its signal is aborted with the message for the reader.
   */
  async run(organizationId: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    const ended = work(controller.signal);
    this.#running.set(controller, { organizationId, ended });
    try {
      await ended;
    } finally {
      this.#running.delete(controller);
    }
  }

  get size(): number {
    return this.#running.size;
  }

  /** Reports whether an organization has as many streams as the others on average. */
  hasShare(organizationId: string): boolean {
    const owners = [...this.#running.values()].map((stream) => stream.organizationId);
    const own = owners.filter((owner) => owner === organizationId).length;
    return own * new Set(owners).size >= owners.length;
  }

  /** Whether the process is shutting down and must not start another stream. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Lets streams run for another `graceMs`, then aborts them. Resolves when all of them have ended. */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    const timer = setTimeout(() => {
      for (const controller of this.#running.keys()) controller.abort(new GenerationError(shuttingDown));
    }, graceMs);
    await Promise.allSettled([...this.#running.values()].map(({ ended }) => ended));
    clearTimeout(timer);
  }
}
