import { mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { SiteRef } from '../../db/caller.ts';
import type { KnownFile, SiteIndexStore } from '../../db/sites/sites.ts';
import { makePrivateFolder } from '../../lib/private-folder.ts';
import { indexFormat, openSiteIndex } from '../../search/query/site-index.ts';
import type { SiteIndex } from '../../search/query/site-index.ts';

export interface SiteIndexesDeps {
  store: Pick<SiteIndexStore, 'current' | 'download'>;
  /** Folder for the files of this process; it is made, and emptied at the end. */
  directory: string;
  logger: Logger;
  /** How often the versions of the sites in use are compared. */
  pollMs: number;
}

/** A site's index in use. Release it when the reply has ended: an older version is closed after its last user. */
export interface IndexLease {
  index: SiteIndex;
  version: number;
  release(): void;
}

interface OpenIndex {
  version: number;
  copy: KnownFile;
  index: SiteIndex;
  users: number;
  isRetired: boolean;
}

interface Entry {
  site: SiteRef;
  current: OpenIndex | null;
  loading: Promise<void> | null;
  retryAt: number;
}

const retryAfterMs = 5_000;
const folderPrefix = 'indexes-';
/** A process touches its folder at each look; one that was killed leaves its copies behind. */
const abandonedAfterMs = 60 * 60_000;

/** The indexes that this process has open, each swapped for a newer version while replies go on with the one they began with. */
export class SiteIndexes {
  readonly #deps: SiteIndexesDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #folder: Promise<string>;
  readonly #timer: NodeJS.Timeout;

  constructor(deps: SiteIndexesDeps) {
    this.#deps = deps;
    this.#folder = this.#makeFolder();
    // who asks for the folder hears of it
    this.#folder.catch(() => {});
    this.#timer = setInterval(() => void this.#refreshAll(), deps.pollMs);
    this.#timer.unref();
  }

  async #makeFolder(): Promise<string> {
    const directory = makePrivateFolder(this.#deps.directory);
    await removeAbandoned(directory);
    return mkdtemp(join(directory, folderPrefix));
  }

  /** The newest index of a site; null while it has none. Errors: the database's, on the first use of a site. */
  async lease(site: SiteRef): Promise<IndexLease | null> {
    const entry = this.#entryOf(site);
    if (entry.current === null) await this.#refresh(entry);
    const open = entry.current;
    if (open === null) return null;
    open.users += 1;
    let isReleased = false;
    return {
      index: open.index,
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
    await Promise.allSettled([...this.#entries.values()].map((entry) => entry.loading));
    for (const { current } of this.#entries.values()) current?.index[Symbol.dispose]();
    this.#entries.clear();
    const folder = await this.#folder.catch(() => null);
    if (folder !== null) await rm(folder, { recursive: true, force: true });
  }

  #entryOf({ id, organizationId }: SiteRef): Entry {
    const known = this.#entries.get(keyOf({ id, organizationId }));
    if (known !== undefined) return known;
    const entry: Entry = { site: { id, organizationId }, current: null, loading: null, retryAt: 0 };
    this.#entries.set(keyOf(entry.site), entry);
    return entry;
  }

  async #refreshAll(): Promise<void> {
    const now = new Date();
    await this.#folder.then((folder) => utimes(folder, now, now)).catch(() => {});
    for (const entry of this.#entries.values()) {
      if (entry.retryAt > Date.now()) continue;
      try {
        await this.#refresh(entry);
      } catch (error) {
        entry.retryAt = Date.now() + retryAfterMs;
        this.#deps.logger.warn(
          { err: error, site: entry.site.id },
          'the index of a site could not be brought up to date',
        );
      }
    }
  }

  /** One download at a time for each site; the index in use serves on meanwhile, and after a failure. */
  #refresh(entry: Entry): Promise<void> {
    entry.loading ??= this.#load(entry).finally(() => {
      entry.loading = null;
    });
    return entry.loading;
  }

  async #load(entry: Entry): Promise<void> {
    const { site } = entry;
    const stored = await this.#deps.store.current(site);
    if (stored === null && entry.current !== null) {
      this.#entries.delete(keyOf(site));
      await this.#retire(entry.current);
      return;
    }
    if (stored === null || stored.format !== indexFormat || stored.version === entry.current?.version) return;
    const file = join(await this.#folder, `${site.id}-${stored.version}.sqlite`);
    const copy = await this.#deps.store.download(site, stored.version, { file, previous: entry.current?.copy });
    const index = openSiteIndex(file);
    const previous = entry.current;
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
