import { StartError } from '../start-error.ts';

/** The signals that ask a program at a terminal to stop. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** npm passes a Ctrl-C on that the terminal has delivered already: only a later one counts as the second. */
const impatienceMs = 1_000;

export interface Interruption extends Disposable {
  /** Aborts at the first signal. */
  readonly signal: AbortSignal;
  /** Resolves when a signal has come. */
  readonly received: Promise<void>;
}

/** Catches the signals that ask to stop. `onSecond` is called when a person insists. */
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
