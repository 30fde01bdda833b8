import { mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { SiteRef } from '../../db/caller.ts';
import type { KnownFile } from '../../db/sites/index-blocks.ts';
import { createFairSemaphore } from '../../lib/threads/fair-semaphore.ts';
import { makePrivateFolder } from '../../lib/private-folder.ts';
import type { PageAccess } from '../../search/query/page-access.ts';
import type { SearchPool } from '../../search/query/search-pool.ts';
import type { SearchHit, SearchRequest } from '../../search/query/search-request.ts';
import { isSearchable } from '../../search/query/index-format.ts';
import { openSiteIndex, type OpenedIndex, type SitePages } from '../../search/query/site-index.ts';
import type { Suggestion, SuggestRequest } from '../../search/query/suggest.ts';
import type { IndexChangeStore } from '../../db/for-service/index-changes.ts';
import type { SiteIndexStore } from '../../db/sites/site-indexes.ts';

export interface SiteIndexesDeps {
  store: Pick<SiteIndexStore, 'current' | 'download'>;
  changes: IndexChangeStore;
  searches: SearchPool;
  /** Parent directory of this process's folder, which is created at startup and removed on disposal. */
  directory: string;
  logger: Logger;
  /** Interval between checks for newer versions of the indexes in use, unless the database is quiet. */
  pollMs: number;
  /** Reports that a newer version would be announced, and that none has been lately. */
  isQuiet(): boolean;
  /** Time after its last lease at which an index is closed. */
  unusedMs?: number;
}

/** An index as one reader sees it. Searches run in other threads. Throws ThreadQueueError when too many are waiting. */
export interface LeasedIndex extends SitePages {
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchHit[]>;
  /** Returns the titles and headings that contain what a reader types. */
  suggest(request: SuggestRequest, signal: AbortSignal): Promise<Suggestion[]>;
}

/** A lease on a site's index. Release it when the reply has ended; an old version is closed after its last release. */
export interface IndexLease {
  index: LeasedIndex;
  version: number;
  release(): void;
}

interface OpenIndex {
  version: number;
  copy: KnownFile;
  index: OpenedIndex;
  users: number;
  isRetired: boolean;
}

interface Entry {
  site: SiteRef;
  current: OpenIndex | null;
  loading: Promise<void> | null;
  retryAt: number;
  /** Time of the last lease. */
  leasedAt: number;
}

const retryAfterMs = 5_000;
const quietPollMs = 5_000;
const defaultUnusedMs = 30 * 60_000;
const folderPrefix = 'indexes-';
/** Age at which a folder counts as orphaned. A live process touches its folder at every poll; a killed one does not. */
const abandonedAfterMs = 60 * 60_000;

/** Manages the indexes open in this process. A newer version replaces an index while running replies keep theirs. */
export class SiteIndexes {
  readonly #deps: SiteIndexesDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #folder: Promise<string>;
  readonly #timer: NodeJS.Timeout;
  /** Updates one at a time, of the organizations in turn. */
  readonly #turns = createFairSemaphore(1);
  /** Entries that are updated or wait for their turn. */
  readonly #updating = new Set<Entry>();
  #checkedAt = -Infinity;

  constructor(deps: SiteIndexesDeps) {
    this.#deps = deps;
    this.#folder = this.#makeFolder();
    // every caller that awaits the folder still gets the error
    this.#folder.catch(() => {});
    this.#timer = setInterval(() => void this.#refreshAll(), deps.pollMs);
    this.#timer.unref();
  }

  async #makeFolder(): Promise<string> {
    const directory = makePrivateFolder(this.#deps.directory);
    await removeAbandoned(directory);
    return mkdtemp(join(directory, folderPrefix));
  }

  /**
   * Leases a site's newest index as a reader with this access sees it; null when it has none. Throws if the database
   * fails before one has been loaded.
   */
  async lease(site: SiteRef, access: PageAccess): Promise<IndexLease | null> {
    const entry = this.#entryOf(site);
    entry.leasedAt = performance.now();
    if (entry.current === null) await this.#refresh(entry);
    const open = entry.current;
    if (open === null) return null;
    open.users += 1;
    let isReleased = false;
    const { searches } = this.#deps;
    const read = { organizationId: site.organizationId, file: open.copy.file, access };
    return {
      index: {
        ...open.index.as(access),
        search: (request, signal) => searches.search(read, request, signal),
        suggest: (request, signal) => searches.suggest(read, request, signal),
      },
      version: open.version,
      release: () => {
        if (isReleased) return;
        isReleased = true;
        open.users -= 1;
        void this.#closeIfUnused(open);
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    await Promise.allSettled(entries.map((entry) => entry.loading));
    for (const { current } of entries) current?.index[Symbol.dispose]();
    await this.#deps.searches[Symbol.asyncDispose]();
    const folder = await this.#folder.catch(() => null);
    if (folder !== null) await rm(folder, { recursive: true, force: true });
  }

  #entryOf({ id, organizationId }: SiteRef): Entry {
    const known = this.#entries.get(keyOf({ id, organizationId }));
    if (known !== undefined) return known;
    const entry: Entry = { site: { id, organizationId }, current: null, loading: null, retryAt: 0, leasedAt: 0 };
    this.#entries.set(keyOf(entry.site), entry);
    return entry;
  }

  async #refreshAll(): Promise<void> {
    if (this.#deps.isQuiet() && performance.now() - this.#checkedAt < quietPollMs) return;
    this.#checkedAt = performance.now();
    const now = new Date();
    await this.#folder.then((folder) => utimes(folder, now, now)).catch(() => {});
    await this.#closeUnused();
    for (const entry of await this.#changedEntries()) {
      if (this.#updating.has(entry)) continue;
      this.#updating.add(entry);
      void this.#turns.run(() => this.#update(entry), entry.site.organizationId);
    }
  }

  async #update(entry: Entry): Promise<void> {
    try {
      // it may have been closed meanwhile
      if (this.#entries.get(keyOf(entry.site)) === entry) await this.#refresh(entry);
    } catch (error) {
      entry.retryAt = performance.now() + retryAfterMs;
      this.#deps.logger.warn({ err: error, site: entry.site.id }, 'the index of a site could not be updated');
    } finally {
      this.#updating.delete(entry);
    }
  }

  /** Closes the indexes that have not been leased lately, so that a process that serves many sites does not keep them all. */
  async #closeUnused(): Promise<void> {
    const { unusedMs = defaultUnusedMs } = this.#deps;
    for (const [key, { current, loading, leasedAt }] of this.#entries) {
      if (loading !== null || (current?.users ?? 0) > 0 || performance.now() - leasedAt < unusedMs) continue;
      this.#entries.delete(key);
      if (current !== null) await this.#retire(current);
    }
  }

  async #changedEntries(): Promise<Entry[]> {
    const entries = [...this.#entries.values()].filter(({ retryAt }) => retryAt <= performance.now());
    try {
      const known = entries.map(({ site, current }) => ({ ...site, version: current?.version ?? 0 }));
      const changed = new Set((await this.#deps.changes.changed(known)).map(keyOf));
      return entries.filter(({ site }) => changed.has(keyOf(site)));
    } catch (error) {
      for (const entry of entries) entry.retryAt = performance.now() + retryAfterMs;
      this.#deps.logger.warn({ err: error }, 'newer indexes could not be checked');
      return [];
    }
  }

  /** Downloads a newer version, one download per site at a time. The current index stays in use meanwhile. */
  #refresh(entry: Entry): Promise<void> {
    entry.loading ??= this.#load(entry).finally(() => {
      entry.loading = null;
    });
    return entry.loading;
  }

  async #load(entry: Entry): Promise<void> {
    const { site } = entry;
    const stored = await this.#deps.store.current(site);
    const previous = entry.current;
    if (stored === null && previous !== null) {
      this.#entries.delete(keyOf(site));
      entry.current = null;
      await this.#retire(previous);
      return;
    }
    if (stored === null || !isSearchable(stored.format) || stored.version === previous?.version) return;
    const file = join(await this.#folder, `${site.id}-${stored.version}.sqlite`);
    const copy = await this.#deps.store.download(site, stored.version, { file, previous: previous?.copy });
    const index = openSiteIndex(file);
    entry.current = { version: stored.version, copy, index, users: 0, isRetired: false };
    if (previous !== null) await this.#retire(previous);
  }

  async #retire(open: OpenIndex): Promise<void> {
    open.isRetired = true;
    await this.#closeIfUnused(open);
  }

  async #closeIfUnused(open: OpenIndex): Promise<void> {
    if (!open.isRetired || open.users > 0) return;
    open.index[Symbol.dispose]();
    this.#deps.searches.close(open.copy.file);
    await rm(open.copy.file, { force: true }).catch(() => {});
  }
}

async function removeAbandoned(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(folderPrefix)) continue;
    const folder = join(directory, name);
    const usedAtMs = (await stat(folder).catch(() => null))?.mtimeMs ?? Infinity;
    if (Date.now() - usedAtMs > abandonedAfterMs) await rm(folder, { recursive: true, force: true });
  }
}

function keyOf({ id, organizationId }: SiteRef): string {
  return `${organizationId}/${id}`;
}
