import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { SiteRow } from '../../db/sites/sites.ts';
import { readDirectory, SourceFolderError, type FolderFile, type IsKnownFile } from '../workspaces/source-folder.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import { createGrantedAccess, type GrantedAccessDeps } from '../job/granted-access.ts';

export interface SiteSourceDeps extends GrantedAccessDeps {
  workspaces: Pick<Workspaces, 'resolve' | 'readFolder'>;
}

/** Content of a site at one point in time. */
export interface SiteSource {
  /** Identifies the content: an equal revision means that nothing changed. */
  revision: string;
  /** Reads all files, whose contents the caller may transfer. Known files may come without content. */
  read(isKnown: IsKnownFile): Promise<FolderFile[]>;
}

/** Opens the source of a site. Errors: GitError, SourceFolderError. */
export type OpenSiteSource = (site: SiteRow, signal: AbortSignal) => Promise<SiteSource>;

export function createSiteSource(deps: SiteSourceDeps): OpenSiteSource {
  const granted = createGrantedAccess(deps);
  return async (site, signal) => {
    if (site.directory !== null) return openDirectory(site, site.directory, signal);
    if (site.repository !== null) return openRepository(site, site.repository, signal);
    throw new SourceFolderError('The site has neither a repository nor a directory.');
  };

  async function openRepository(site: SiteRow, repository: string, signal: AbortSignal): Promise<SiteSource> {
    const access = await granted.siteRepositoryOf({ ...site, repository }, signal);
    const { commit } = await deps.workspaces.resolve({ ...access, ref: site.ref });
    const { revision, read } = await deps.workspaces.readFolder({ ...access, commit, path: site.path });
    if (revision === null) throw new SourceFolderError(`The repository has no folder ${JSON.stringify(site.path)}.`);
    return { revision, read };
  }

  async function openDirectory(site: SiteRow, top: string, signal: AbortSignal): Promise<SiteSource> {
    await granted.checkDirectory(site, top, site.path);
    const directory = join(top, site.path);
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

function revisionOf(files: FolderFile[]): string {
  const hash = createHash('sha256');
  for (const { path, name } of files) hash.update(`${path}\0${name}\0`);
  return hash.digest('hex');
}
