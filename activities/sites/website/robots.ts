import type { WebsiteScope } from '../../../lib/inputs/website.ts';
import { SourceFolderError } from '../../workspaces/source-folder.ts';
import { PageError } from '../content/page-error.ts';
import { CrawlStop } from './crawl-stop.ts';
import type { WebsiteClient } from './website-client.ts';
import type { ContentReader } from '../content/content-reader.ts';

export interface Robots {
  sitemaps: string[];
  allows(url: string): Promise<boolean>;
}

const maxBytes = 500_000;
const maxDelayMs = 30_000;

/**
 * Reads the rules of a website for crawlers. As RFC 9309 has it, a file that does not exist allows everything, and one
 * that cannot be read nothing. Errors: SourceFolderError, CrawlStop.
 */
export async function openRobots({
  scope: { start },
  client,
  reader,
  signal,
}: {
  scope: WebsiteScope;
  client: WebsiteClient;
  reader: ContentReader;
  signal: AbortSignal;
}): Promise<Robots> {
  const url = new URL('/robots.txt', start).href;
  const problemWith = (next: string) => (new URL(next).origin === start.origin ? null : 'which is another website');
  try {
    const { status, bytes } = await client.get({ url, maxBytes, problemWith });
    if (status !== 200 && (status < 400 || status >= 500)) throw new PageError(`answered with status ${status}`);
    const text = new TextDecoder().decode(bytes);
    const { sitemaps, delaySeconds } = await reader.read<'robots'>({ kind: 'robots', url, text }, signal);
    if (delaySeconds !== null && delaySeconds > 0) client.slowDown(Math.min(delaySeconds * 1_000, maxDelayMs));
    return {
      sitemaps,
      async allows(page) {
        try {
          return await reader.read<'allowed'>({ kind: 'allowed', url, text, page }, signal);
        } catch (cause) {
          throw cause instanceof PageError ? new CrawlStop(`${url} ${cause.message}.`, { cause }) : cause;
        }
      },
    };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof PageError)) throw error;
    throw new SourceFolderError(`${url} ${error.message}, so the website is not crawled.`, { cause: error });
  }
}
