/** One address cannot be read; the message is the end of a sentence about it. */
export class PageError extends Error {
  override name = 'PageError';
}

/** The crawl cannot go on; the message is a sentence. */
export class CrawlStop extends Error {
  override name = 'CrawlStop';
}
