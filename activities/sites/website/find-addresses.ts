import { withinScope } from '../../../lib/inputs/website.ts';
import type { CrawlScene } from './crawl.ts';
import { mostSitemapBytes, type Sitemap } from '../content/read-sitemap.ts';
import { PageError } from '../content/page-error.ts';
import { SourceFolderError } from '../../workspaces/source-folder.ts';

const mostSitemaps = 50;

/**
 * Returns the addresses of the pages that the sitemaps of a website list; null if there are none. The sitemaps are the
 * start itself, those of robots.txt, or the usual ones.
 */
export async function findAddresses(scene: CrawlScene): Promise<string[] | null> {
  const { scope, robots, limits, skip } = scene;
  const { start, folder } = scope;
  const isStart = /\.xml(?:\.gz)?$/i.test(start.pathname);
  const named = isStart ? [start.href] : robots.sitemaps.filter((url) => URL.parse(url)?.origin === start.origin);
  const usual = [...new Set([`${folder}sitemap.xml`, '/sitemap.xml'])].map((path) => new URL(path, start).href);
  const queue = named.length > 0 ? named : usual;
  const seen = new Set(queue);
  const pages = new Set<string>();
  for (const url of queue) {
    const sitemap = await readSitemapAt(scene, url);
    if (typeof sitemap === 'string') {
      if (named.length > 0) skip(`The sitemap ${url} ${sitemap}.`);
      continue;
    }
    for (const listed of sitemap.pages) {
      const page = withinScope(listed, scope);
      if (page !== null && pages.size < limits.pages * 2) pages.add(page);
    }
    for (const more of sitemap.sitemaps) {
      if (seen.has(more) || URL.parse(more)?.origin !== start.origin) continue;
      if (seen.size >= mostSitemaps) skip(`Only the first ${mostSitemaps} sitemaps are read.`);
      else queue.push(more);
      seen.add(more);
    }
  }
  if (pages.size === 0 && isStart) throw new SourceFolderError(`No page was found in ${start.href}.`);
  return pages.size === 0 ? null : [...pages];
}

/** Returns why there is none as the end of a sentence. */
async function readSitemapAt(
  { client, reader, scope: { start }, signal }: CrawlScene,
  url: string,
): Promise<Sitemap | string> {
  const problemWith = (next: string) => (URL.parse(next)?.origin === start.origin ? null : 'which is another website');
  try {
    const { status, bytes } = await client.get({ url, mostBytes: mostSitemapBytes, problemWith });
    if (status !== 200) return `answered with status ${status}`;
    return (await reader.read<'sitemap'>({ kind: 'sitemap', bytes }, signal)) ?? 'is no sitemap';
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PageError) return error.message;
    throw error;
  }
}
