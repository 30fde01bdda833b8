import { StartError } from '../start-error.ts';

/** Signals that ask a program at a terminal to stop. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** npm forwards a Ctrl-C that the terminal has already delivered, so only a later signal counts as the second. */
const impatienceMs = 1_000;

export interface Interruption extends Disposable {
  /** Aborts on the first signal. */
  readonly signal: AbortSignal;
  /** Resolves on the first signal. */
  readonly received: Promise<void>;
}

/** Catches the signals that ask a program to stop. `onSecond` is called on a second one. */
export function catchInterruption(onSecond: () => void): Interruption {
  const controller = new AbortController();
  let firstAt = 0;
  const onSignal = () => {
    if (!controller.signal.aborted) {
      firstAt = Date.now();
      controller.abort(new StartError('The start was interrupted.'));
    } else if (Date.now() - firstAt > impatienceMs) {
      onSecond();
    }
  };
  for (const signal of signals) process.on(signal, onSignal);
  return {
    signal: controller.signal,
    received: new Promise((resolve) => {
      controller.signal.addEventListener('abort', () => resolve(), { once: true });
    }),
    [Symbol.dispose]() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
