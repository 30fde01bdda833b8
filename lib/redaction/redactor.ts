import { createKnownScrubber } from './known-scrubber.ts';
import { scrubShapes } from './shapes.ts';

/**
 * Creates the scrubber for everything that leaves a process. It redacts the given secrets (plain, encoded, reversed,
 * truncated or split over lines) and everything shaped like a credential. It also removes NUL, which PostgreSQL rejects
 * in text.
 */
export function createRedactor(
  secrets: readonly string[],
  scrubKnown = createKnownScrubber(secrets),
): (text: string) => string {
  return (text) => scrubShapes(scrubKnown(text.includes('\0') ? text.replaceAll('\0', '') : text));
}

/** Scrubs one text. For many texts with the same secrets, `createRedactor` is cheaper. */
export function redact(text: string, secrets: readonly string[]): string {
  return createRedactor(secrets)(text);
}
