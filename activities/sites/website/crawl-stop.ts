/** The crawl cannot go on; the message is a sentence. */
export class CrawlStop extends Error {
  override name = 'CrawlStop';
}
