import { withinScope } from '../../../lib/inputs/website.ts';
import type { CrawlScene } from './crawl.ts';
import { maxSitemapBytes, type Sitemap } from '../content/read-sitemap.ts';
import { PageError, RedirectError } from '../content/page-error.ts';
import { SourceFolderError } from '../../workspaces/source-folder.ts';

/** Addresses of the pages that the sitemaps of a website list. */
export interface Addresses {
  /** Null if there are none. */
  listed: string[] | null;
  /** Why pages may be missing, as a sentence; null if every sitemap was read. */
  problem: string | null;
}

interface UnreadSitemap {
  /** End of a sentence about it. */
  reason: string;
  kind: 'absent' | 'refused' | 'failed';
}

const maxSitemaps = 50;
const kindOfStatus = new Map<number, UnreadSitemap['kind']>([
  [401, 'refused'],
  [403, 'refused'],
  [404, 'absent'],
  [410, 'absent'],
]);

/**
 * Returns the addresses of the pages that the sitemaps of a website list. The sitemaps are the start itself, those of
 * robots.txt, or the usual ones.
 */
export async function findAddresses(scene: CrawlScene): Promise<Addresses> {
  const { scope, robots, limits, skip } = scene;
  const { start, folder } = scope;
  const isStart = /\.xml(?:\.gz)?$/i.test(start.pathname);
  const named = isStart ? [start.href] : robots.sitemaps.filter((url) => URL.parse(url)?.origin === start.origin);
  const usual = [...new Set([`${folder}sitemap.xml`, '/sitemap.xml'])].map((path) => new URL(path, start).href);
  const queue = named.length > 0 ? named : [...usual];
  const seen = new Set(queue);
  const pages = new Set<string>();
  const problems: string[] = [];
  const miss = (url: string, reason: string) =>
    void problems.push(`The sitemap ${url} ${reason}, so pages may be missing.`);
  for (const url of queue) {
    const sitemap = await readSitemapAt(scene, url);
    if ('reason' in sitemap) {
      const { reason, kind } = sitemap;
      const isGuess = named.length === 0 && usual.includes(url);
      // many servers refuse what does not exist, and a usual sitemap need not exist
      if (kind === 'failed' || (kind === 'refused' && !isGuess)) miss(url, reason);
      else if (kind === 'refused' || !isGuess) skip(`The sitemap ${url} ${reason}.`);
      continue;
    }
    if (!sitemap.isWhole) miss(url, 'ends early or is not valid XML');
    for (const listed of sitemap.pages) {
      const page = withinScope(listed, scope);
      if (page !== null && pages.size < limits.pages * 2) pages.add(page);
    }
    for (const more of sitemap.sitemaps) {
      if (seen.has(more) || URL.parse(more)?.origin !== start.origin) continue;
      if (seen.size >= maxSitemaps) skip(`Only the first ${maxSitemaps} sitemaps are read.`);
      else queue.push(more);
      seen.add(more);
    }
  }
  const [problem = null] = problems;
  if (pages.size === 0 && isStart && problem === null)
    throw new SourceFolderError(`No page was found in ${start.href}.`);
  return { listed: pages.size === 0 ? null : [...pages], problem };
}

async function readSitemapAt(
  { client, reader, scope: { start }, signal }: CrawlScene,
  url: string,
): Promise<Sitemap | UnreadSitemap> {
  const problemWith = (next: string) => (URL.parse(next)?.origin === start.origin ? null : 'which is another website');
  try {
    const { status, bytes } = await client.get({ url, maxBytes: maxSitemapBytes, problemWith });
    if (status !== 200) return { reason: `answered with status ${status}`, kind: kindOfStatus.get(status) ?? 'failed' };
    const sitemap = await reader.read<'sitemap'>({ kind: 'sitemap', bytes }, signal);
    return sitemap ?? { reason: 'is no sitemap', kind: 'absent' };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof PageError)) throw error;
    return { reason: error.message, kind: error instanceof RedirectError ? 'refused' : 'failed' };
  }
}
