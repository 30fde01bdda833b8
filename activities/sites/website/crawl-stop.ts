/** The crawl cannot continue; the message is a sentence. */
export class CrawlStop extends Error {
  override name = 'CrawlStop';
}
