import { createHash } from 'node:crypto';
import type { Egress } from '../../../lib/network/egress.ts';
import { scopeOf, withinScope, type WebsiteScope } from '../../../lib/inputs/website.ts';
import type { WebsitePage, WebsitePageStore } from '../../../db/sites/website-pages.ts';
import type { SourceRef } from '../../../db/sites/site-sources.ts';
import { indexFormat } from '../../../search/query/index-format.ts';
import { robotsRulesOf } from '../../../search/read/formats/robots-rules.ts';
import { SourceFolderError } from '../../workspaces/source-folder.ts';
import { findAddresses } from './find-addresses.ts';
import { openRobots, type Robots } from './robots.ts';
import { PageError, RedirectError } from '../content/page-error.ts';
import { CrawlStop } from './crawl-stop.ts';
import { createWebsiteClient, type Wait, type WebsiteClient } from './website-client.ts';
import { createContentReader, type ContentReader } from '../content/content-reader.ts';

export interface CrawlLimits {
  /** Time between requests, and for the whole crawl. */
  delayMs: number;
  crawlMs: number;
  pages: number;
  bytesPerPage: number;
  /** Of the pages that are kept. */
  characters: number;
}

export const crawlLimits: CrawlLimits = {
  delayMs: 250,
  crawlMs: 15 * 60_000,
  pages: 2_000,
  bytesPerPage: 2_000_000,
  characters: 100_000_000,
};

export interface CrawlDeps {
  egress: Pick<Egress, 'request'>;
  pages: WebsitePageStore;
  limits: CrawlLimits;
  wait?: Wait;
}

export interface Crawl {
  pages: WebsitePage[];
  /** Why the crawl did not finish, as a sentence; null if it did. */
  problem: string | null;
  /** The first pages that could not be read, as sentences. */
  skipped: string[];
}

/** Statuses of pages that are no longer published. */
const absences = new Map([
  [401, 'needs a login'],
  [403, 'is forbidden'],
  [404, 'does not exist'],
  [410, 'does not exist'],
]);
const maxSkipped = 20;
const maxLinks = 2_000;
/** A link to an image, a recording, a font or an archive leads to no page. */
const download = /\.(?:avif|gif|ico|jpe?g|png|svg|webp|mp[34]|webm|pdf|woff2?|7z|bz2|gz|jar|tgz|whl|xz|zip)$/i;

/** Context of a crawl. */
export interface CrawlScene {
  scope: WebsiteScope;
  client: WebsiteClient;
  reader: ContentReader;
  robots: Robots;
  limits: CrawlLimits;
  signal: AbortSignal;
  /** Notes a sentence about an address. */
  skip(sentence: string): void;
}

/** The pages of one crawl. */
interface Reading {
  website: SourceRef;
  store: WebsitePageStore;
  /** Pages of the last crawl, without those that are gone. */
  known: Map<string, WebsitePage>;
  /** Pages that stay. */
  found: Map<string, WebsitePage>;
  /** Addresses that answered with status 403. */
  refused: string[];
}

/**
 * Reads the pages of a website that have changed since its last crawl, and stores them. A crawl that stops continues with
 * the next one; until then the pages that it did not reach stay as they were. Errors: SourceFolderError for a website
 * that cannot be crawled at all.
 */
export async function crawlWebsite(
  { egress, pages: store, limits, wait }: CrawlDeps,
  website: SourceRef & { url: string },
  signal: AbortSignal,
): Promise<Crawl> {
  const scope = scopeOf(website.url);
  const timeout = AbortSignal.timeout(limits.crawlMs);
  const until = AbortSignal.any([signal, timeout]);
  await using reader = createContentReader();
  const client = createWebsiteClient({ egress, delayMs: limits.delayMs, signal: until, wait });
  const skipped: string[] = [];
  const skip = (sentence: string) => void (skipped.length < maxSkipped && skipped.push(sentence));
  const earlier = (await store.list(website)).filter(({ url }) => withinScope(url, scope) !== null);
  const known = new Map(earlier.map((page) => [page.url, page.format === indexFormat ? page : asUnread(page)]));
  const found = new Map<string, WebsitePage>();
  const reading: Reading = { website, store, known, found, refused: [] };
  let problem: string | null = null;
  let isFinished = false;
  try {
    const robots = await openRobots({ scope, client, reader, signal: until });
    const scene = { scope, client, reader, robots, limits, signal: until, skip };
    problem = await readPages(scene, reading);
    isFinished = true;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CrawlStop) problem = error.message;
    else if (timeout.aborted)
      problem = `The crawl stopped after ${Math.ceil(limits.crawlMs / 60_000)} minutes and continues at the next re-index.`;
    else throw error;
  }
  dropRefused(reading);
  const wanted = isFinished ? found : new Map([...known, ...found]);
  const published = byCanonical([...wanted.values()], skip);
  if (published.length === 0)
    throw new SourceFolderError(problem ?? `No page was found at ${website.url}. ${skipped[0] ?? ''}`.trim());
  await store.keepOnlyPages(website, [...wanted.keys()]);
  if (isFinished) await store.finish(website);
  return { pages: published, problem, skipped };
}

/**
 * Reads the pages of the sitemaps; without any, those that links lead to from the start. If a sitemap cannot be read, the
 * known pages are read as well. Returns why pages may be missing, as a sentence; null if none are.
 */
async function readPages(scene: CrawlScene, reading: Reading): Promise<string | null> {
  const { limits, scope, robots, skip } = scene;
  const { known, found } = reading;
  const { listed, problem } = await findAddresses(scene);
  const unlisted = problem === null ? [] : [...known.keys()];
  const followsLinks = listed === null && unlisted.length === 0;
  const queued = new Set([...unlisted, ...(followsLinks ? [scope.start.href] : (listed ?? []))]);
  let characters = 0;
  for (const url of queued) {
    if (found.size >= limits.pages) {
      skip(`Only the first ${limits.pages} pages are indexed.`);
      break;
    }
    const isAllowed = await robots.allows(url);
    if (!isAllowed) skip(`${url} is not allowed by robots.txt.`);
    const page = isAllowed ? await readPage(scene, reading, url) : null;
    if (page === null) {
      known.delete(url);
      continue;
    }
    found.set(url, page);
    characters += page.size;
    if (characters > limits.characters)
      throw new CrawlStop(`The pages have more than ${limits.characters / 1e6} million characters in total.`);
    if (!followsLinks) continue;
    for (const link of page.links) if (queued.size < limits.pages * 5 && !download.test(link)) queued.add(link);
  }
  return problem;
}

/** Drops the pages that answered with status 403, unless the website refuses every program. */
function dropRefused({ known, found, refused }: Reading): void {
  if (![...found.values()].some(({ isChecked }) => isChecked)) return;
  for (const url of refused) {
    known.delete(url);
    found.delete(url);
  }
}

/** Reads a page unless it is unchanged; null if there is none. A page that cannot be read stays as it was. */
async function readPage(
  scene: CrawlScene,
  { website, store, known: earlier, refused }: Reading,
  url: string,
): Promise<WebsitePage | null> {
  const { scope, client, reader, robots, limits, signal, skip } = scene;
  const known = earlier.get(url);
  if (known?.isChecked === true) return known;
  const problemWith = async (next: string) => {
    if (withinScope(next, scope) === null) return 'which is outside the website';
    return (await robots.allows(next)) ? null : 'which robots.txt does not allow';
  };
  try {
    const headers = { accept: 'text/html,application/xhtml+xml', ...conditionsOf(known) };
    const answer = await client.get({ url, headers, maxBytes: limits.bytesPerPage, problemWith });
    if (answer.status === 304 && known !== undefined) {
      await store.check(website, url);
      return { ...known, isChecked: true };
    }
    const absence = absences.get(answer.status);
    if (absence !== undefined) {
      skip(`${url} ${absence} (status ${answer.status}).`);
      if (answer.status !== 403) return null;
      refused.push(url);
      return known ?? null;
    }
    if (answer.status !== 200) throw new PageError(`answered with status ${answer.status}`);
    const type = answer.headers['content-type'] ?? null;
    const request = { kind: 'page' as const, url: answer.url, type, bytes: answer.bytes };
    const read = await reader.read<'page'>(request, signal);
    const isRefused = answer.robotsTags.some((tag) => !robotsRulesOf(tag).mayIndex);
    const isPage = !('problem' in read);
    const canonical = (isPage && read.canonical !== null && withinScope(read.canonical, scope)) || answer.url;
    const isElsewhere = isPage && read.canonical !== null && withinScope(read.canonical, scope) === null;
    if ('problem' in read) skip(`${url} ${read.problem}.`);
    else if (isElsewhere) skip(`${url} names another website as its own address.`);
    const isIndexed = isPage && read.page !== null && !isRefused && !isElsewhere;
    const content = isIndexed ? JSON.stringify(withAddress(read.page, canonical)) : null;
    const page = {
      url,
      etag: answer.headers.etag?.slice(0, 500) ?? null,
      lastModified: answer.headers['last-modified']?.slice(0, 100) ?? null,
      canonical,
      links: isPage ? read.links.flatMap((link) => withinScope(link, scope) ?? []).slice(0, maxLinks) : [],
      name: content === null ? null : createHash('sha256').update(content).digest('hex'),
      format: indexFormat,
    };
    await store.put(website, { ...page, content });
    return { ...page, size: content?.length ?? 0, isChecked: true };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PageError) skip(`${url} ${error.message}.`);
    else throw error;
    return error instanceof RedirectError ? null : (known ?? null);
  }
}

function withAddress<Page extends { values: Record<string, unknown> }>(page: Page | null, url: string) {
  return page === null ? null : { ...page, values: { ...page.values, url } };
}

/** An earlier release read the page in another way, so it is read again even if it has not changed. */
function asUnread(page: WebsitePage): WebsitePage {
  return { ...page, etag: null, lastModified: null, isChecked: false };
}

function conditionsOf(known: WebsitePage | undefined): Record<string, string> {
  return {
    ...(known?.etag != null && { 'if-none-match': known.etag }),
    ...(known?.lastModified != null && { 'if-modified-since': known.lastModified }),
  };
}

/** Of pages with the same canonical address, the one at this address counts, or else the first one. */
function byCanonical(pages: WebsitePage[], skip: CrawlScene['skip']): WebsitePage[] {
  const published = new Map<string, WebsitePage>();
  for (const page of pages) {
    if (page.name === null) continue;
    if (!published.has(page.canonical) || page.url === page.canonical) published.set(page.canonical, page);
  }
  for (const { url, canonical, name } of pages) {
    // a page that redirects has the content of its target
    const other = published.get(canonical);
    if (name === null || other === undefined || other.name === name) continue;
    skip(`${url} is left out, because another page has its canonical address ${canonical}.`);
  }
  return [...published.values()];
}
