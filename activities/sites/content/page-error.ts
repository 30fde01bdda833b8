/** One address cannot be read; the message is the end of a sentence about it. */
export class PageError extends Error {
  override name = 'PageError';
}

/** A page redirects to an address that may not be read. */
export class RedirectError extends PageError {
  override name = 'RedirectError';
}
