import { join } from 'node:path';
import { ApplicationFailure, log } from '@temporalio/activity';
import type { SiteRow } from '../../db/sites/sites.ts';
import { worseIndex, type SiteIndexing } from '../../db/for-worker/site-indexing.ts';
import { embeddingName } from '../../lib/inputs/embedding-choice.ts';
import { createFairSemaphore } from '../../lib/threads/fair-semaphore.ts';
import { readKnownSources, sourceKey } from '../../search/query/known-pages.ts';
import { indexFormat, isSearchable } from '../../search/query/index-format.ts';
import type { FoundSource } from '../../search/read/read-sources.ts';
import { maxSkipped } from '../../search/read/source-page.ts';
import { FailureType } from '../../workflows/contract/failures.ts';
import type {
  BuildSiteInput,
  IndexFailureInput,
  IndexSiteInput,
  IndexSiteOutcome,
} from '../../workflows/contract/site.ts';
import type { Attempt } from '../attempt.ts';
import { SourceFolderError } from '../workspaces/source-folder.ts';
import { embedIndexInThread, type EmbeddingSettings, type EmbeddingResult } from './index-embedding.ts';
import { buildIndexInThread, type BuildResult, type IndexBuildRequest } from './index-build.ts';
import { problemWithIndex } from './index-guard.ts';
import { createSiteArtifacts } from './site-artifacts.ts';
import { createSiteSource, type SitePart, type SiteSource, type SiteSourceDeps } from './site-source.ts';
import type { SourceReport } from '../../db/sites/site-sources.ts';
import type { SiteIndexStore, StoredIndex } from '../../db/sites/site-indexes.ts';

export interface SiteActivityDeps extends SiteSourceDeps {
  sites: Pick<
    SiteIndexing,
    | 'get'
    | 'requestIndex'
    | 'startIndexRun'
    | 'countIndexAttempt'
    | 'readGuard'
    | 'answerIndexRequest'
    | 'recordIndexFailure'
  >;
  indexes: SiteIndexStore;
  attempt: Attempt;
  /** Model for the vectors of passages; null for an index without vectors. */
  embedding: EmbeddingSettings | null;
  /** Folder for artifacts while they are built. */
  directory: string;
}

interface Build {
  site: SiteRow;
  request: string | null;
  current: StoredIndex | null;
  source: SiteSource;
  signal: AbortSignal;
}

/** Pages that crash the worker in each attempt fail the build after minutes; the next request tries again. */
const maxAttempts = 20;
const maxProblemLength = 300;
/** A build uses a whole core, and memory for all files. Organizations take turns. */
const buildsAtOnce = 4;

export type SiteActivities = ReturnType<typeof createSiteActivities>;

/** Creates the activities of site indexing; each is safe to run twice. */
export function createSiteActivities(deps: SiteActivityDeps) {
  const { sites, indexes, attempt } = deps;
  const openSource = createSiteSource(deps);
  const artifacts = createSiteArtifacts(deps);
  const builds = createFairSemaphore(buildsAtOnce);

  return {
    /** Begins a run, and returns the request that it will answer; any later request is a new one. */
    async readIndexRequest({ siteId }: IndexSiteInput): Promise<string | null> {
      return sites.startIndexRun(siteId);
    },

    /** Requests an index. The run is started separately. */
    async requestIndex({ siteId }: IndexSiteInput): Promise<void> {
      await sites.requestIndex(siteId);
    },

    /** Builds and publishes the index of a site. An unchanged source publishes the same version. */
    async buildSiteIndex({ siteId, request }: BuildSiteInput): Promise<IndexSiteOutcome> {
      let attempts = 0;
      // lost workers count, too, which is fine because every attempt starts over
      return attempt({ turn: null, countFailure: () => Promise.resolve(attempts) }, async (signal) => {
        attempts = await sites.countIndexAttempt(siteId);
        if (attempts > maxAttempts) throw abandoned();
        const site = await sites.get(siteId);
        if (site === null) throw unreadable('The site no longer exists.');
        try {
          const outcome = await publishIndex(site, request, signal);
          await answer(siteId, request);
          return outcome;
        } catch (error) {
          throw error instanceof SourceFolderError ? unreadable(error.message) : error;
        }
      });
    },

    /** Records on the site why it could not be indexed; the previous version stays in service. */
    async recordIndexFailure({ siteId, request, category, message }: IndexFailureInput): Promise<void> {
      await sites.recordIndexFailure(siteId, { request, category, message });
      await answer(siteId, request);
    },
  };

  async function answer(siteId: string, request: string | null): Promise<void> {
    if (request !== null) await sites.answerIndexRequest(siteId, request);
  }

  async function publishIndex(site: SiteRow, request: string | null, signal: AbortSignal): Promise<IndexSiteOutcome> {
    // read before the source, so that an index of an older state never replaces a newer one
    const current = await indexes.current(site);
    const source = await openSource(site, signal);
    const isUnchanged = [source.revision, source.wholeRevision].some(
      (known) => known !== null && current?.revision === revisionOf(known, deps.embedding),
    );
    if (current?.format === indexFormat && isUnchanged) {
      await indexes.confirm(site);
      return { version: current.version, pages: current.pages, changedPages: 0 };
    }
    return builds.run(() => buildAndPublish({ site, request, current, source, signal }), site.organizationId);
  }

  async function buildAndPublish({ site, request, current, source, signal }: Build): Promise<IndexSiteOutcome> {
    signal.throwIfAborted();
    await using build = await artifacts.openBuild();
    const file = join(build.folder, 'index.sqlite');
    const earlierFile = await earlierOf(site, current, build.folder);
    const isSameFormat = current?.format === indexFormat;
    const previousFile = isSameFormat ? earlierFile : undefined;
    const olderFile = isSameFormat ? undefined : earlierFile;
    if (source.failure !== null && earlierFile === undefined) throw source.failure;
    const { built, parts } = await buildFrom(source, site, { file, previousFile, olderFile, signal });
    if (built === 'no-pages') throw unreadable("The site's folder has no pages in a format that Docket reads.");
    signal.throwIfAborted();
    const isWithdrawn = parts.some((part) => part.isWithdrawn);
    if (current !== null && earlierFile !== undefined && !isWithdrawn) {
      // before the passages are embedded, which costs money
      const problem = await problemWith(site, { currentFile: earlierFile, file, signal });
      if (problem !== null) {
        await sites.recordIndexFailure(site.id, { request, category: worseIndex, message: problem });
        log.warn('a worse index of a site is not used', { site: site.id });
        return { version: current.version, pages: current.pages, changedPages: 0 };
      }
    }
    const vectors =
      deps.embedding === null
        ? null
        : await embed(site, { ...deps.embedding, file, previousFile: earlierFile, signal });
    const { changedPages, found, hasIncludes, ...index } = built;
    const revision = hasIncludes ? source.wholeRevision : source.revision;
    const report = { ...index.report, sources: reportsOf(site, parts, found) };
    // an index whose vectors are not complete is built again by the next request
    const isComplete = vectors?.problem == null && parts.every(({ problem }) => problem === null);
    const replaces = current?.version ?? 0;
    const { version, pages } = await indexes.publish(site, {
      ...index,
      sourceHash: vectors === null ? index.sourceHash : `${index.sourceHash} ${vectors.hash}`,
      report: { ...report, vectors: vectors && withoutHash(vectors) },
      format: indexFormat,
      file,
      revision: isComplete && revision !== null ? revisionOf(revision, deps.embedding) : null,
      replaces,
      previousFile,
    });
    if (version !== replaces) await artifacts.keep(site.id, version, file);
    log.info('site indexed', { site: site.id, version, pages, changedPages });
    if (source.failure !== null) throw source.failure;
    return { version, pages, changedPages };
  }

  /** Returns why a new index must not be used; null when it may. */
  async function problemWith(site: SiteRow, files: Parameters<typeof problemWithIndex>[1]): Promise<string | null> {
    const guard = await sites.readGuard(site.id);
    return guard === null ? null : problemWithIndex(guard, files);
  }

  /** Embeds the passages; whatever happens, the index is published and answers by words. */
  async function embed(site: SiteRow, request: Parameters<typeof embedIndexInThread>[0]): Promise<EmbeddingResult> {
    const result = await embedIndexInThread(request);
    if (result.problem === null) return result;
    const problem = deps.secrets.redact(result.problem).slice(0, maxProblemLength);
    log.warn('passages of a site have no vectors', { site: site.id, ...result, problem });
    return { ...result, problem };
  }

  /** Fetches the current artifact. One of an older format has vectors to reuse, but its pages were read differently. */
  async function earlierOf(site: SiteRow, current: StoredIndex | null, folder: string): Promise<string | undefined> {
    const isUsable = current !== null && isSearchable(current.format);
    return isUsable ? artifacts.fetch(site, current, folder) : undefined;
  }

  /** Reads only what the previous artifact lacks, or everything if that is not enough. */
  async function buildFrom(
    source: SiteSource,
    site: SiteRow,
    request: Omit<IndexBuildRequest, 'files' | 'parts' | 'readIncluded'>,
  ): Promise<{ built: Exclude<BuildResult, 'unread'>; parts: SitePart[] }> {
    const { previousFile } = request;
    const known = previousFile === undefined ? new Set<string>() : readKnownSources(previousFile);
    const changed = await source.read(({ path, name }) => known.has(sourceKey({ file: path, name })));
    const built = await buildOrForget(site, { ...request, ...filesOf(changed) });
    if (built !== 'unread') return { built, parts: changed };
    const parts = await source.read(() => false);
    const complete = await buildOrForget(site, { ...request, ...filesOf(parts) });
    if (complete === 'unread') throw new Error('The index build needs a file that was not read.');
    return { built: complete, parts };
  }

  /** Drops a cached artifact if a build that uses it fails. */
  async function buildOrForget(site: SiteRow, request: IndexBuildRequest): Promise<BuildResult> {
    try {
      return await buildIndexInThread(request);
    } catch (error) {
      await artifacts.forget(site.id);
      throw error;
    }
  }
}

function filesOf(parts: SitePart[]): Pick<IndexBuildRequest, 'files' | 'parts' | 'readIncluded'> {
  return {
    readIncluded: async ({ part, paths }) => (await parts[part]?.readIncluded(paths)) ?? [],
    parts: parts.map(({ prefix, weight, isKept, isParsed, isWithdrawn }) => ({
      prefix,
      weight,
      isKept,
      isParsed,
      isWithdrawn,
    })),
    files: parts.flatMap(({ files }, part) => files.map((file) => ({ ...file, part }))),
  };
}

/** Returns the reports on the added sources, which come last. */
function reportsOf({ sources }: SiteRow, parts: SitePart[], found: FoundSource[]): SourceReport[] {
  const first = parts.length - sources.length;
  return parts.slice(first).map(({ prefix, problem, skipped }, at) => {
    const { pages = 0, skipped: files = [] } = found[first + at] ?? {};
    const unread = files.map((file) => `Not read: ${file}.`);
    return { prefix, pages, problem, skipped: [...skipped, ...unread].slice(0, maxSkipped) };
  });
}

/** Returns the source's name for the content of an index; another embedding model makes another index of it. */
function revisionOf(revision: string, embedding: EmbeddingSettings | null): string {
  return embedding === null ? revision : `${revision} ${embeddingName(embedding)}`;
}

function withoutHash({ hash: _hash, ...report }: EmbeddingResult): Omit<EmbeddingResult, 'hash'> {
  return report;
}

function abandoned(): ApplicationFailure {
  const message = `The build of the index was lost ${maxAttempts} times with its worker. See the log of the workers.`;
  return ApplicationFailure.nonRetryable(message, FailureType.Internal);
}

function unreadable(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, FailureType.SiteUnreadable);
}
