import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { SiteRow } from '../../db/sites/sites.ts';
import { readDirectory, SourceFolderError, type FolderFile, type IsKnownFile } from '../workspaces/source-folder.ts';
import { fileOf } from '../../search/read/read-sources.ts';
import { GitError } from '../git/git-error.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import { createGrantedAccess, type GrantedAccessDeps } from '../job/granted-access.ts';

export interface SiteSourceDeps extends GrantedAccessDeps {
  workspaces: Pick<Workspaces, 'resolve' | 'readFolder'>;
}

/** Content of a source at one point in time. */
interface OpenedSource {
  /** Identifies the content: an equal revision means that nothing changed. */
  revision: string;
  /** Reads all files, whose contents the caller may transfer. Known files may come without content. */
  read(isKnown: IsKnownFile): Promise<FolderFile[]>;
}

/** Content of a site's sources at one point in time. */
export interface SiteSource {
  /** Identifies the content: an equal revision means that nothing changed. Null if a source could not be read. */
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
  /** Why an added source could not be read, as a sentence; null if it was. */
  problem: string | null;
}

/**
 * Opens the sources of a site. A failure of the repository or directory fails; one of an added source becomes its
 * problem. Errors: GitError, SourceFolderError.
 */
export type OpenSiteSource = (site: SiteRow, signal: AbortSignal) => Promise<SiteSource>;

type Place = Pick<SitePart, 'prefix' | 'weight'>;
type Folder = { repository: string; ref: string | null; path: string } | { directory: string; path: string };

export function createSiteSource(deps: SiteSourceDeps): OpenSiteSource {
  const granted = createGrantedAccess(deps);
  return async (site, signal) => {
    const main = mainFolderOf(site);
    const opened: { place: Place; source: OpenedSource | string }[] = [];
    if (main !== null) opened.push({ place: { prefix: '', weight: 1 }, source: await open(site, main, signal) });
    for (const added of site.sources)
      opened.push({ place: added, source: await orProblem(() => open(site, added, signal), signal) });
    const [only] = opened;
    if (only === undefined) throw new SourceFolderError('The site has no source.');
    const problems = opened.flatMap(({ source }) => (typeof source === 'string' ? [source] : []));
    if (problems.length === opened.length) throw new SourceFolderError(problems[0] ?? '');
    return {
      revision: problems.length > 0 ? null : revisionOfAll(opened),
      async read(isKnown) {
        const parts: SitePart[] = [];
        for (const { place, source } of opened) {
          const { prefix, weight } = place;
          const isKnownHere: IsKnownFile = ({ path, name }) => isKnown({ path: fileOf(prefix, path), name });
          const isMain = main !== null && parts.length === 0;
          const read = async () => (typeof source === 'string' ? source : await source.read(isKnownHere));
          const files = isMain ? await read() : await orProblem(read, signal);
          const isRead = typeof files !== 'string';
          parts.push({ prefix, weight, files: isRead ? files : [], problem: isRead ? null : files });
        }
        return parts;
      },
    };
  };

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
    if (error instanceof SourceFolderError || error instanceof GitError) return error.message;
    throw error;
  }
}

/** A site with its main source alone has the revision of that. */
function revisionOfAll(opened: { place: Place; source: OpenedSource | string }[]): string {
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

function revisionOf(files: FolderFile[]): string {
  const hash = createHash('sha256');
  for (const { path, name } of files) hash.update(`${path}\0${name}\0`);
  return hash.digest('hex');
}
