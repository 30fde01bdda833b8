import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/activity';
import type { SiteRow } from '../db/sites.ts';
import { FailureType } from '../workflows/contract/failures.ts';
import { readDirectory, SourceFolderError, type FolderFile, type IsKnownFile } from './clients/source-folder.ts';
import type { Workspaces } from './clients/workspaces.ts';
import type { SiteCredential } from './site-credential.ts';

export interface SiteSourceDeps {
  workspaces: Pick<Workspaces, 'resolve' | 'readFolder'>;
  siteCredential: SiteCredential;
  problemWithRepository(repository: string): string | null;
  /** Folder below which directories of sites may lie; null: none. */
  siteDirectories: string | null;
}

/** What the pages of a site come from at one moment. */
export interface SiteSource {
  /** Names the content: an equal one means that nothing changed. */
  revision: string;
  /** All its files; those that are known may come without their content. */
  read(isKnown: IsKnownFile): Promise<FolderFile[]>;
}

/** Opens the source of a site. Errors: GitError, SourceFolderError. */
export type OpenSiteSource = (site: SiteRow, signal: AbortSignal) => Promise<SiteSource>;

export function createSiteSource(deps: SiteSourceDeps): OpenSiteSource {
  return async (site, signal) => {
    if (site.directory !== null) return openDirectory(join(site.directory, site.path), signal);
    if (site.repository !== null) return openRepository(site, site.repository, signal);
    throw new SourceFolderError('The site has neither a repository nor a directory.');
  };

  async function openRepository(site: SiteRow, repository: string, signal: AbortSignal): Promise<SiteSource> {
    const problem = deps.problemWithRepository(repository);
    if (problem !== null) throw ApplicationFailure.nonRetryable(problem, FailureType.RepositoryUnreachable);
    const credential = await deps.siteCredential({ ...site, repository });
    const access = { repository, credential, signal };
    const { commit } = await deps.workspaces.resolve({ ...access, ref: site.ref });
    const { revision, read } = await deps.workspaces.readFolder({ ...access, commit, path: site.path });
    if (revision === null) throw new SourceFolderError(`The repository has no folder ${JSON.stringify(site.path)}.`);
    return { revision, read };
  }

  async function openDirectory(directory: string, signal: AbortSignal): Promise<SiteSource> {
    const files = await readDirectory({ directory, root: deps.siteDirectories, signal });
    const read = (isKnown: IsKnownFile) =>
      Promise.resolve(files.map((file) => (isKnown(file) ? { ...file, content: null } : file)));
    return { revision: revisionOf(files), read };
  }
}

function revisionOf(files: FolderFile[]): string {
  const hash = createHash('sha256');
  for (const { path, name } of files) hash.update(`${path}\0${name}\0`);
  return hash.digest('hex');
}
