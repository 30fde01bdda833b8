import { createKnownScrubber } from './known-scrubber.ts';
import { scrubShapes } from './shapes.ts';

/**
 * Makes the scrubber for everything that leaves a process: it takes out the given secrets, plain, encoded, reversed, cut off
 * or split over lines, everything shaped like a credential, and NUL, which PostgreSQL refuses in a text.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const scrubKnown = createKnownScrubber(secrets);
  return (text) => scrubShapes(scrubKnown(text.includes('\0') ? text.replaceAll('\0', '') : text));
}

/** Scrubs one text; see `createRedactor`, which is cheaper for many texts with the same secrets. */
export function redact(text: string, secrets: readonly string[]): string {
  return createRedactor(secrets)(text);
}
