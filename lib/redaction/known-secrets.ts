import { createKnownScrubber } from './known-scrubber.ts';
import { createRedactor } from './redactor.ts';

/** What a process must never store or let out. */
export interface KnownSecrets {
  /** All of them by now: the list grows. */
  readonly values: readonly string[];
  /** Takes a secret out of everything from now on. */
  add(secret: string): void;
  /** See `createRedactor`. */
  redact(text: string): string;
  /**
   * Takes out the known secrets and nothing else, for transcripts. Whatever merely looks like a credential stays: masked in
   * what the model reads or writes, it would be masked in the repository's files too.
   */
  mask(text: string): string;
}

/** Begins with the secrets of the process; those of projects are learned when they are read. */
export function createKnownSecrets(initial: readonly string[]): KnownSecrets {
  const values = [...new Set(initial)];
  let redact = createRedactor(values);
  let mask = createKnownScrubber(values);
  return {
    values,
    add(secret) {
      if (values.includes(secret)) return;
      values.push(secret);
      redact = createRedactor(values);
      mask = createKnownScrubber(values);
    },
    redact: (text) => redact(text),
    mask: (text) => mask(text),
  };
}

/** Applies a mask to every text in a JSON value. */
export function maskDeep(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((item: unknown) => maskDeep(item, mask));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [mask(key), maskDeep(item, mask)]));
}
