import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { AddedSource } from '../../db/sites/site-sources.ts';
import type { SiteRow } from '../../db/sites/sites.ts';
import type { SourceThread, SourceThreadStore } from '../../db/sites/source-threads.ts';
import type { WebsitePage, WebsitePageStore } from '../../db/sites/website-pages.ts';
import { scopeOf } from '../../lib/inputs/website.ts';
import { pathOf } from '../../search/read/paths.ts';
import type { PageNetwork } from '../tools/fetch/fetch-page.ts';
import { readThreads, type ThreadLimits } from './threads/read-threads.ts';
import { crawlWebsite, type CrawlLimits } from './website/crawl.ts';
import { readDirectory, SourceFolderError, type FolderFile, type IsKnownFile } from '../workspaces/source-folder.ts';
import { fileOf } from '../../search/read/read-sources.ts';
import type { FrontMatter } from '../../search/read/front-matter.ts';
import { ForgeError } from '../forges/forge.ts';
import { GitError } from '../git/git-error.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import type { KnownSecrets } from '../../lib/redaction/known-secrets.ts';
import { createGrantedAccess, type GrantedAccessDeps } from '../job/granted-access.ts';

const unknownForge =
  'Docket does not know which forge has these issues. Create a project for the repository that names its forge.';

export interface SiteSourceDeps extends GrantedAccessDeps {
  secrets: Pick<KnownSecrets, 'add' | 'redact'>;
  /** The way to websites. */
  pages: Pick<PageNetwork, 'egress'>;
  websites: { pages: WebsitePageStore; limits: CrawlLimits };
  issues: { store: SourceThreadStore; limits: ThreadLimits };
  workspaces: Pick<Workspaces, 'resolve' | 'readFolder'>;
}

/** Content of a source at one point in time. */
interface OpenedSource {
  /** Identifies the content: an equal revision means that nothing changed. */
  revision: string;
  /** Reads all files, whose contents the caller may transfer. Known files may come without content. */
  read(isKnown: IsKnownFile): Promise<FolderFile[]>;
  /** Of a website or issues that were not read completely. */
  problem?: string | null;
  skipped?: string[];
  isWithdrawn?: boolean;
}

/** Content of a site's sources at one point in time. */
export interface SiteSource {
  /** Identifies the content: an equal revision means that nothing changed. Null if a source was not read completely. */
  revision: string | null;
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
  /** Its earlier pages must go, because not everybody may see them. */
  isWithdrawn: boolean;
  skipped: string[];
}

/**
 * Opens the sources of a site. A failure of the repository or directory fails; one of an added source becomes its
 * problem. Errors: GitError, SourceFolderError.
 */
export type OpenSiteSource = (site: SiteRow, signal: AbortSignal) => Promise<SiteSource>;

type Place = Pick<SitePart, 'prefix' | 'weight'>;
type Folder = { repository: string; ref: string | null; path: string } | { directory: string; path: string };
type Opened = { place: Place & { kind?: AddedSource['kind'] }; source: OpenedSource | string };

export function createSiteSource(deps: SiteSourceDeps): OpenSiteSource {
  const granted = createGrantedAccess(deps);
  return async (site, signal) => {
    const main = mainFolderOf(site);
    const opened: Opened[] = [];
    const remote = await createRemoteOpeners(site, signal);
    if (main !== null) opened.push({ place: { prefix: '', weight: 1 }, source: await open(site, main, signal) });
    for (const added of site.sources)
      opened.push({
        place: added,
        source: await orProblem(() => {
          if (added.kind === 'website') return remote.openWebsite(added);
          return added.kind === 'issues' ? remote.openIssues(added) : open(site, added, signal);
        }, signal),
      });
    const [only] = opened;
    if (only === undefined) throw new SourceFolderError('The site has no source.');
    const problems = opened.flatMap(({ source }) => (typeof source === 'string' ? [source] : []));
    const isIncomplete = opened.some(({ source }) => typeof source === 'string' || source.problem != null);
    if (problems.length === opened.length) throw new SourceFolderError(problems[0] ?? '');
    return {
      revision: isIncomplete ? null : revisionOfAll(opened),
      async read(isKnown) {
        const parts: SitePart[] = [];
        for (const { place, source } of opened) {
          const { prefix, weight } = place;
          const isKnownHere: IsKnownFile = ({ path, name }) => isKnown({ path: fileOf(prefix, path), name });
          const isMain = main !== null && parts.length === 0;
          const read = async () => (typeof source === 'string' ? source : await source.read(isKnownHere));
          const files = isMain ? await read() : await orProblem(read, signal);
          const { problem = null, skipped = [], isWithdrawn = false } = typeof source === 'string' ? {} : source;
          parts.push({
            prefix,
            weight,
            files: typeof files === 'string' ? [] : files,
            problem: typeof files === 'string' ? files : problem,
            isKept: typeof files === 'string',
            isParsed: place.kind === 'website' || place.kind === 'issues',
            isWithdrawn,
            skipped,
          });
        }
        return parts;
      },
    };
  };

  /** Returns the functions that read the websites and issues of a site, which share the time of one run. */
  async function createRemoteOpeners(site: SiteRow, signal: AbortSignal) {
    const { pages, limits } = deps.websites;
    const prefixesOf = (kind: AddedSource['kind']) =>
      site.sources.filter((source) => source.kind === kind).map(({ prefix }) => prefix);
    const websites = prefixesOf('website');
    const trackers = prefixesOf('issues');
    await pages.keepOnly(site, websites);
    await deps.issues.store.keepOnly(site, trackers);
    const end = Date.now() + limits.crawlMs;
    let left = websites.length + trackers.length;
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
    const openIssues = async (added: Extract<AddedSource, { kind: 'issues' }>): Promise<OpenedSource> => {
      const { organizationId } = site;
      const { store, limits } = deps.issues;
      const source = { ...added, id: site.id, organizationId };
      const api = await granted.siteForgeOf({ organizationId, repository: added.repository });
      if (api === null) throw new SourceFolderError(unknownForge);
      const readMs = Math.min(limits.readMs, shareMs());
      const { redact } = deps.secrets;
      const result = await readThreads({ store, limits: { ...limits, readMs }, redact }, { source, api, signal });
      const files = result.threads.map((thread) => fileOfThread(thread, added.groups));
      return {
        ...result,
        revision: revisionOf(files),
        async read(isKnown) {
          const unknown = result.threads.filter((_thread, at) => !isKnown(files[at] ?? { path: '', name: '' }));
          const contents = await store.contents(
            source,
            unknown.map(({ id }) => id),
          );
          return result.threads.map((thread) => {
            const content = contents.get(thread.id);
            const page = content === undefined ? null : Buffer.from(withGroups(content, added.groups));
            return { ...fileOfThread(thread, added.groups), content: page };
          });
        },
      };
    };
    return { openWebsite, openIssues };
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
    const { revision, read } = await deps.workspaces.readFolder({ ...access, commit, path });
    if (revision === null) throw new SourceFolderError(`The repository has no folder ${JSON.stringify(path)}.`);
    return { revision, read };
  }

  async function openDirectory(
    site: SiteRow,
    { directory: top, path }: Extract<Folder, { directory: string }>,
    signal: AbortSignal,
  ): Promise<OpenedSource> {
    await granted.checkDirectory(site, top, path);
    const directory = join(top, path);
    const readAll = () => readDirectory({ directory, root: deps.roots.directories, signal });
    let files: FolderFile[] | null = await readAll();
    return {
      revision: revisionOf(files),
      // the caller may take the contents; later changes have a new revision and are indexed next time
      async read(isKnown) {
        const all = files ?? (await readAll());
        files = null;
        return all.map((file) => (isKnown(file) ? { ...file, content: null } : file));
      },
    };
  }
}

/** A page of a website is a file with its path below the start of the crawl. */
function fileOfPage({ canonical, name }: WebsitePage, start: string): FolderFile {
  const path = new URL(canonical).pathname.slice(scopeOf(start).folder.length);
  return { path: `${pathOf(path)}.html`, name: name ?? '', content: null };
}

/** The groups are part of the page, so that others make another version of it. */
function fileOfThread({ id, name }: SourceThread, groups: string[]): FolderFile {
  const version = groups.length === 0 ? (name ?? '') : revisionOf([{ path: name ?? '', name: JSON.stringify(groups) }]);
  return { path: `${id}.md`, name: version, content: null };
}

function withGroups(content: string, groups: string[]): string {
  const page: FrontMatter = JSON.parse(content);
  return JSON.stringify(groups.length === 0 ? page : { ...page, values: { ...page.values, groups } });
}

function mainFolderOf({ repository, directory, ref, path }: SiteRow): Folder | null {
  if (directory !== null) return { directory, path };
  return repository === null ? null : { repository, ref, path };
}

/** Returns the sentence of a failure for which the owner of the site can do something; rethrows others. */
async function orProblem<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result | string> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SourceFolderError || error instanceof GitError || error instanceof ForgeError)
      return error.message;
    throw error;
  }
}

/** A site with its main source alone has the revision of that. */
function revisionOfAll(opened: Opened[]): string {
  const [first] = opened;
  const revisions = opened.map(({ place: { prefix, weight }, source }) => [
    prefix,
    weight,
    typeof source === 'string' ? null : source.revision,
  ]);
  if (opened.length === 1 && first?.place.prefix === '' && typeof first.source !== 'string')
    return first.source.revision;
  return createHash('sha256').update(JSON.stringify(revisions)).digest('hex');
}

function revisionOf(files: Pick<FolderFile, 'path' | 'name'>[]): string {
  const hash = createHash('sha256');
  for (const { path, name } of files) hash.update(`${path}\0${name}\0`);
  return hash.digest('hex');
}
