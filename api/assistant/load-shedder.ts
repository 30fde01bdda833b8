import { monitorEventLoopDelay } from 'node:perf_hooks';

const windowMs = 1_000;
const nanosecondsPerMs = 1e6;

/** Tells whether this process is too busy for a further stream: past the limit new readers would starve first. */
export class LoadShedder {
  readonly #histogram = monitorEventLoopDelay({ resolution: 10 });
  readonly #timer: NodeJS.Timeout;
  #delayMs = 0;
  readonly #limitMs: number;

  /** @param limitMs the 99th percentile of the event-loop delay, over a second, above which new streams are refused */
  constructor(limitMs: number) {
    this.#limitMs = limitMs;
    this.#histogram.enable();
    this.#timer = setInterval(() => {
      this.#delayMs = this.#histogram.percentile(99) / nanosecondsPerMs;
      this.#histogram.reset();
    }, windowMs);
    this.#timer.unref();
  }

  get isOverloaded(): boolean {
    return this.#delayMs > this.#limitMs;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#histogram.disable();
  }
}
