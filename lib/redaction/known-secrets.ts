import { createKnownScrubber } from './known-scrubber.ts';
import { createRedactor } from './redactor.ts';

/** The secrets that a process must never store or disclose. */
export interface KnownSecrets {
  /** All secrets known so far; the list grows. */
  readonly values: readonly string[];
  /** Redacts a secret from everything from now on. */
  add(secret: string): void;
  /** See `createRedactor`. */
  redact(text: string): string;
  /**
   * Redacts only the known secrets, for transcripts. Text that merely looks like a credential is left alone: masking it
   * in what the model reads or writes would also mask it in the repository's files.
   */
  mask(text: string): string;
}

/** Starts with the secrets of the process; those of projects are added when they are read. */
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
