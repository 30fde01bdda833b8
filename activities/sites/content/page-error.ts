/** One address cannot be read; the message is the end of a sentence about it. */
export class PageError extends Error {
  override name = 'PageError';
}
