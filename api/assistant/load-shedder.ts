import { monitorEventLoopDelay, performance } from 'node:perf_hooks';

const windowMs = 1_000;
const nanosecondsPerMs = 1e6;
/** Below this utilization, a delay has another cause: another process on the machine, or one long task. */
const busyShare = 0.9;
/** Consecutive windows required, because startup or opening a large index can strain a single one. */
const windowsInARow = 2;

/** Detects when this process is too busy for another stream. Beyond the limit, new readers would starve first. */
export class LoadShedder {
  readonly #histogram = monitorEventLoopDelay({ resolution: 10 });
  readonly #timer: NodeJS.Timeout;
  readonly #limitMs: number;
  #utilization = performance.eventLoopUtilization();
  #strained = 0;

  /** @param limitMs p99 event-loop delay over one second above which new streams are refused */
  constructor(limitMs: number) {
    this.#limitMs = limitMs;
    this.#histogram.enable();
    this.#timer = setInterval(() => this.#measure(), windowMs);
    this.#timer.unref();
  }

  get isOverloaded(): boolean {
    return this.#strained >= windowsInARow;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#histogram.disable();
  }

  #measure(): void {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#utilization);
    const delayMs = this.#histogram.percentile(99) / nanosecondsPerMs;
    this.#utilization = now;
    this.#histogram.reset();
    this.#strained = delayMs > this.#limitMs && utilization > busyShare ? this.#strained + 1 : 0;
  }
}
