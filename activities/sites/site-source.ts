import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isThreadSource, type AddedSource, type ThreadSource } from '../../db/sites/site-sources.ts';
import type { SiteRow } from '../../db/sites/sites.ts';
import type { SourceThreadStore } from '../../db/sites/source-threads.ts';
import type { WebsitePage, WebsitePageStore } from '../../db/sites/website-pages.ts';
import { scopeOf } from '../../lib/inputs/website.ts';
import { fileOf, pathOf } from '../../search/read/paths.ts';
import type { PageNetwork } from '../tools/fetch/fetch-page.ts';
import { revisionOf, type OpenedSource } from './opened-source.ts';
import type { ThreadLimits } from './threads/read-threads.ts';
import { openThreads } from './threads/thread-source.ts';
import { crawlWebsite, type CrawlLimits } from './website/crawl.ts';
import { createDirectoryIncludes } from '../workspaces/included-files.ts';
import {
  checkedDirectory,
  readDirectory,
  SourceFolderError,
  type FolderFile,
  type IsKnownFile,
} from '../workspaces/source-folder.ts';
import { ForgeError } from '../forges/forge.ts';
import { GitError } from '../git/git-error.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import type { KnownSecrets } from '../../lib/redaction/known-secrets.ts';
import { createGrantedAccess, type GrantedAccessDeps } from '../job/granted-access.ts';

export interface SiteSourceDeps extends GrantedAccessDeps {
  secrets: Pick<KnownSecrets, 'learn' | 'redact'>;
  /** The way to websites. */
  pages: Pick<PageNetwork, 'egress'>;
  websites: { pages: WebsitePageStore; limits: CrawlLimits };
  threads: { store: SourceThreadStore; limits: ThreadLimits };
  workspaces: Pick<Workspaces, 'resolve' | 'readFolder'>;
}

/** Content of a site's sources at one point in time. */
export interface SiteSource {
  /** Identifies the content: an equal revision means that nothing changed. Null if a source was not read completely. */
  revision: string | null;
  /** Identifies the content with all that its pages may include from elsewhere. */
  wholeRevision: string | null;
  /**
   * Why the repository or directory could not be read; null if it was. There is still content if an added source has to
   * withdraw its pages.
   */
  failure: Error | null;
  /**
   * Reads all files of all sources, whose contents the caller may transfer. Known files, by their names among the files
   * of all sources, may come without content.
   */
  read(isKnown: IsKnownFile): Promise<SitePart[]>;
}

/** The files of one source. */
export interface SitePart {
  prefix: string;
  weight: number;
  files: FolderFile[];
  /** Why an added source could not be read, or not completely, as a sentence; null if it was. */
  problem: string | null;
  /** It could not be read, so its pages are those of the last index. */
  isKept: boolean;
  /** Its files are pages that have been read already. */
  isParsed: boolean;
  /** Its earlier pages must be removed, because they are not public. */
  isWithdrawn: boolean;
  skipped: string[];
  /** Reads files that its pages include and that are not among its files. */
  readIncluded(paths: readonly string[]): Promise<FolderFile[]>;
}

/**
 * Opens the sources of a site. The repository or directory has to be readable, unless an added source withdraws its pages;
 * a failure of an added source becomes its problem. Errors: GitError, SourceFolderError.
 */
export type OpenSiteSource = (site: SiteRow, signal: AbortSignal) => Promise<SiteSource>;

const notReached = 'It was not read, because the site itself could not be read.';

type Target = Pick<SitePart, 'prefix' | 'weight'>;
type Folder = { repository: string; ref: string | null; path: string } | { directory: string; path: string };
type Opened = { target: Target | AddedSource; source: OpenedSource | Error };

export function createSiteSource(deps: SiteSourceDeps): OpenSiteSource {
  const granted = createGrantedAccess(deps);
  return async (site, signal) => {
    // its sources may contain what jobs of the organization have used
    for (const { id } of await deps.projects.list(site)) deps.secrets.learn(id, []);
    const main = mainFolderOf(site);
    const opened: Opened[] = [];
    const remote = await createRemoteOpeners(site, signal);
    let failure: Error | null = null;
    if (main !== null) {
      const source = await orError(() => open(site, main, signal), signal);
      if (source instanceof Error) failure = source;
      opened.push({ target: { prefix: '', weight: 1 }, source });
    }
    for (const added of site.sources)
      opened.push({
        target: added,
        source: await orError(() => {
          if (isThreadSource(added)) return remote.openThreads(added);
          if (failure !== null) throw new SourceFolderError(notReached);
          return added.kind === 'website' ? remote.openWebsite(added) : open(site, added, signal);
        }, signal),
      });
    const [only] = opened;
    if (only === undefined) throw new SourceFolderError('The site has no source.');
    const sources = opened.map(({ source }) => source);
    if (failure !== null && !sources.some((source) => !(source instanceof Error) && source.isWithdrawn)) throw failure;
    const isIncomplete = sources.some((source) => source instanceof Error || source.problem != null);
    if (only.source instanceof Error && sources.every((source) => source instanceof Error))
      throw new SourceFolderError(only.source.message);
    return {
      revision: isIncomplete ? null : revisionOfAll(opened, ({ revision }) => revision),
      wholeRevision: isIncomplete
        ? null
        : revisionOfAll(opened, ({ revision, wholeRevision = revision }) => wholeRevision),
      failure,
      async read(isKnown) {
        const parts: SitePart[] = [];
        for (const { target, source } of opened) {
          const { prefix, weight } = target;
          const isKnownHere: IsKnownFile = ({ path, name }) => isKnown({ path: fileOf(prefix, path), name });
          const isMain = main !== null && parts.length === 0;
          const read = async () => (source instanceof Error ? source : await source.read(isKnownHere));
          const files = isMain ? await read() : await orError(read, signal);
          const { problem = null, skipped = [], isWithdrawn = false } = source instanceof Error ? {} : source;
          parts.push({
            prefix,
            weight,
            files: files instanceof Error ? [] : files,
            problem: files instanceof Error ? files.message : problem,
            isKept: files instanceof Error,
            isParsed: 'kind' in target && (target.kind === 'website' || isThreadSource(target)),
            isWithdrawn,
            skipped,
            readIncluded: async (paths) =>
              source instanceof Error ? [] : ((await source.readIncluded?.(paths)) ?? []),
          });
        }
        return parts;
      },
    };
  };

  /** Returns the functions that read the websites and threads of a site, which share the time of one run. */
  async function createRemoteOpeners(site: SiteRow, signal: AbortSignal) {
    const { pages, limits } = deps.websites;
    const prefixesOf = (isOfKind: (source: AddedSource) => boolean) =>
      site.sources.filter(isOfKind).map(({ prefix }) => prefix);
    const websites = prefixesOf(({ kind }) => kind === 'website');
    const threads = prefixesOf(isThreadSource);
    await pages.keepOnly(site, websites);
    await deps.threads.store.keepOnly(site, threads);
    const end = Date.now() + limits.crawlMs;
    let left = websites.length + threads.length;
    const shareMs = () => Math.max(1, (end - Date.now()) / left--);
    const openWebsite = async ({ prefix, url }: { prefix: string; url: string }): Promise<OpenedSource> => {
      const website = { id: site.id, organizationId: site.organizationId, prefix, url };
      const crawlMs = shareMs();
      const { egress } = deps.pages;
      const crawl = await crawlWebsite({ egress, pages, limits: { ...limits, crawlMs } }, website, signal);
      const files = crawl.pages.map((page) => fileOfPage(page, url));
      return {
        revision: revisionOf(files),
        problem: crawl.problem,
        skipped: crawl.skipped,
        async read(isKnown) {
          const unknown = crawl.pages.filter((_page, at) => !isKnown(files[at] ?? { path: '', name: '' }));
          const contents = await pages.contents(
            website,
            unknown.map((page) => page.url),
          );
          return crawl.pages.map((page) => {
            const content = contents.get(page.url);
            return { ...fileOfPage(page, url), content: content === undefined ? null : Buffer.from(content) };
          });
        },
      };
    };
    const openThreadsOf = (added: ThreadSource): Promise<OpenedSource> => {
      const { organizationId } = site;
      const { store, limits } = deps.threads;
      const readMs = Math.min(limits.readMs, shareMs());
      const threadDeps = {
        store,
        limits: { ...limits, readMs },
        redact: deps.secrets.redact,
        egress: deps.pages.egress,
        forgeOf: (repository: string) => granted.siteForgeOf({ organizationId, repository }),
      };
      return openThreads(threadDeps, { site, added, signal });
    };
    return { openWebsite, openThreads: openThreadsOf };
  }

  function open(site: SiteRow, folder: Folder, signal: AbortSignal): Promise<OpenedSource> {
    return 'repository' in folder ? openRepository(site, folder, signal) : openDirectory(site, folder, signal);
  }

  async function openRepository(
    { organizationId }: SiteRow,
    { repository, ref, path }: Extract<Folder, { repository: string }>,
    signal: AbortSignal,
  ): Promise<OpenedSource> {
    const access = await granted.siteRepositoryOf({ organizationId, repository }, signal);
    const { commit } = await deps.workspaces.resolve({ ...access, ref });
    const { revision, read, readIncluded } = await deps.workspaces.readFolder({ ...access, commit, path });
    if (revision === null) throw new SourceFolderError(`The repository has no folder ${JSON.stringify(path)}.`);
    return { revision, read, readIncluded, wholeRevision: `${revision} ${commit}` };
  }

  async function openDirectory(
    site: SiteRow,
    { directory: top, path }: Extract<Folder, { directory: string }>,
    signal: AbortSignal,
  ): Promise<OpenedSource> {
    await granted.checkDirectory(site, top, path);
    const directory = join(top, path);
    const readAll = () => readDirectory({ directory, root: deps.roots.directories, signal });
    return {
      revision: revisionOf(await readAll()),
      // read again, so that nothing is in memory while the build waits; changes since then are indexed next time
      async read(isKnown) {
        const files = await readAll();
        return files.map((file) => (isKnown(file) ? { ...file, content: null } : file));
      },
      readIncluded: createDirectoryIncludes(await checkedDirectory(directory, deps.roots.directories)),
      wholeRevision: null,
    };
  }
}

/** A page of a website is a file with its path below the start of the crawl. */
function fileOfPage({ canonical, name }: WebsitePage, start: string): FolderFile {
  const path = new URL(canonical).pathname.slice(scopeOf(start).folder.length);
  return { path: `${pathOf(path)}.html`, name: name ?? '', content: null };
}

function mainFolderOf({ repository, directory, ref, path }: SiteRow): Folder | null {
  if (directory !== null) return { directory, path };
  return repository === null ? null : { repository, ref, path };
}

/** Returns a failure for which the owner of the site can do something; rethrows others. */
async function orError<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result | Error> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SourceFolderError || error instanceof GitError || error instanceof ForgeError) return error;
    throw error;
  }
}

/** A site with its main source alone has the revision of that. Null if a source has none. */
function revisionOfAll(opened: Opened[], revisionOf: (source: OpenedSource) => string | null): string | null {
  const [first] = opened;
  const revisions = opened.map(({ target: { prefix, weight }, source }) => [
    prefix,
    weight,
    source instanceof Error ? null : revisionOf(source),
  ]);
  if (opened.length === 1 && first?.target.prefix === '' && !(first.source instanceof Error))
    return revisionOf(first.source);
  if (revisions.some(([, , revision]) => revision === null)) return null;
  return createHash('sha256').update(JSON.stringify(revisions)).digest('hex');
}
