import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ApplicationFailure, Context } from '@temporalio/activity';
import type { SiteIndexStore, SiteRow, SiteStore, StoredIndex } from '../db/sites.ts';
import { indexFormat } from '../search/site-index.ts';
import { FailureType } from '../workflows/contract/failures.ts';
import type { IndexSiteInput, IndexSiteOutcome } from '../workflows/contract/site.ts';
import type { Attempt } from './attempt.ts';
import type { Forges } from './clients/forge.ts';
import { readDirectory, SourceFolderError } from './clients/source-folder.ts';
import type { FolderFile } from './clients/source-folder.ts';
import type { Workspaces } from './clients/workspaces.ts';
import { buildIndexInThread } from './index-build.ts';

export interface SiteActivityDeps {
  sites: SiteStore;
  indexes: SiteIndexStore;
  workspaces: Pick<Workspaces, 'resolve' | 'readFolder'>;
  forges: Forges;
  attempt: Attempt;
  /** Folder for artifacts under construction. */
  directory: string;
  /** Folder below which directories of sites may lie; null: none. */
  siteDirectories: string | null;
  problemWithRepository(repository: string): string | null;
}

/** What the pages come from now; `revision` is null where only the content can tell whether anything changed. */
interface Source {
  revision: string | null;
  read(): Promise<FolderFile[]>;
}

export type SiteActivities = ReturnType<typeof createSiteActivities>;

/** The activities of site indexing; each is safe to run twice. */
export function createSiteActivities(deps: SiteActivityDeps) {
  const { sites, indexes, attempt } = deps;
  // the engine's count also counts lost workers, which is fine where every attempt begins anew
  const scope = { countFailure: () => Promise.resolve(Context.current().info.attempt) };

  return {
    /** Answers the request for an index: one that comes from here on is a new one. */
    async takeIndexRequest({ siteId }: IndexSiteInput): Promise<void> {
      await sites.takeIndexRequest(siteId);
    },

    /** Asks for an index; whoever looks for requests starts it. */
    async requestIndex({ siteId }: IndexSiteInput): Promise<void> {
      await sites.requestIndex(siteId);
    },

    /** Builds and publishes the index of a site. The same source publishes the same version. */
    async buildSiteIndex({ siteId }: IndexSiteInput): Promise<IndexSiteOutcome> {
      return attempt(scope, async (signal) => {
        const site = await sites.get(siteId);
        if (site === null) throw unreadable('The site does not exist any more.');
        try {
          return await publishIndex(site, signal);
        } catch (error) {
          throw error instanceof SourceFolderError ? unreadable(error.message) : error;
        }
      });
    },

    /** Says on the site why it could not be indexed; the version before serves on. */
    async recordIndexFailure({
      siteId,
      category,
      message,
    }: IndexSiteInput & { category: string; message: string }): Promise<void> {
      await sites.recordIndexFailure(siteId, { category, message });
    },
  };

  async function publishIndex(site: SiteRow, signal: AbortSignal): Promise<IndexSiteOutcome> {
    const source = await sourceOf(site, signal);
    const current = await indexes.current(site.id);
    if (isCurrent(current, source)) {
      await indexes.confirm(site.id);
      return { version: current.version, pages: current.pages, changedPages: 0 };
    }
    await mkdir(deps.directory, { recursive: true, mode: 0o700 });
    const folder = await mkdtemp(join(deps.directory, 'build-'));
    try {
      const previousFile = await previousArtifact(site, current, folder);
      const file = join(folder, 'index.sqlite');
      const built = await buildIndexInThread({ files: await source.read(), file, previousFile, signal });
      if (built === null) throw unreadable('The folder of the site holds no Markdown, MDX or OpenAPI pages.');
      const { changedPages, ...index } = built;
      const { version, pages } = await indexes.publish(site.id, {
        ...index,
        format: indexFormat,
        file,
        revision: source.revision,
      });
      return { version, pages, changedPages };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async function previousArtifact(
    site: SiteRow,
    current: StoredIndex | null,
    folder: string,
  ): Promise<string | undefined> {
    if (current === null || current.format !== indexFormat) return undefined;
    const file = join(folder, 'previous.sqlite');
    await indexes.download(site.id, current.version, { file });
    return file;
  }

  async function sourceOf(site: SiteRow, signal: AbortSignal): Promise<Source> {
    if (site.directory !== null) {
      const directory = join(site.directory, site.path);
      return { revision: null, read: () => readDirectory({ directory, root: deps.siteDirectories, signal }) };
    }
    const repository = site.repository ?? '';
    const problem = deps.problemWithRepository(repository);
    if (problem !== null) throw ApplicationFailure.nonRetryable(problem, FailureType.RepositoryUnreachable);
    const forge = deps.forges.forKind(repository.startsWith('/') ? 'local' : 'github');
    const access = { repository, credential: forge.credential(repository), signal };
    const { commit } = await deps.workspaces.resolve({ ...access, ref: site.ref });
    const { revision, read } = await deps.workspaces.readFolder({ ...access, commit, path: site.path });
    if (revision === null) throw unreadable(`The repository has no folder ${site.path}.`);
    return { revision, read };
  }
}

function isCurrent(current: StoredIndex | null, { revision }: Source): current is StoredIndex {
  return current !== null && revision !== null && current.format === indexFormat && current.revision === revision;
}

function unreadable(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, FailureType.SiteUnreadable);
}
