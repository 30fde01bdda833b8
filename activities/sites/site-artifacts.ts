import { link, mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { SiteRef } from '../../db/caller.ts';
import type { SiteIndexStore, StoredIndex } from '../../db/sites/site-indexes.ts';

interface ArtifactBuild extends AsyncDisposable {
  folder: string;
}

const buildPrefix = 'build-';
const hourMs = 60 * 60_000;
const buildAbandonedAfterMs = 3 * hourMs;
const keptUnusedMs = 3 * 24 * hourMs;
const cleanUpEveryMs = hourMs;

export type SiteArtifacts = ReturnType<typeof createSiteArtifacts>;

/** Index artifact files on this worker; several processes may share the folder. */
export function createSiteArtifacts({
  directory,
  indexes,
}: {
  directory: string;
  indexes: Pick<SiteIndexStore, 'download'>;
}) {
  let cleanedUpAt = 0;

  /** Opens a folder for one build; disposing of it deletes the folder. */
  async function openBuild(): Promise<ArtifactBuild> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await cleanUpIfDue();
    const folder = await mkdtemp(join(directory, buildPrefix));
    return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
  }

  /** Puts the artifact of a version into a folder, from the local cache or else from storage. */
  async function fetch(site: SiteRef, { version, sizeBytes }: StoredIndex, folder: string): Promise<string> {
    const file = join(folder, 'previous.sqlite');
    try {
      // link under another name: another process may drop the cached file at any time
      await link(join(directory, nameOf(site.id, version)), file);
      await utimes(file, new Date(), new Date());
      if ((await stat(file)).size === sizeBytes) return file;
      await rm(file, { force: true });
    } catch {
      // nothing is cached, or this file system does not support links
    }
    await indexes.download(site, version, { file });
    return file;
  }

  /** Caches the artifact of a newly published version for the next build on this worker. */
  async function keep(siteId: string, version: number, file: string): Promise<void> {
    await forget(siteId);
    await rename(file, join(directory, nameOf(siteId, version)));
  }

  /** Drops the cached artifacts of a site. */
  async function forget(siteId: string): Promise<void> {
    const names = (await readdir(directory)).filter((name) => name.startsWith(`${siteId}-`));
    for (const name of names) await rm(join(directory, name), { force: true });
  }

  async function cleanUpIfDue(): Promise<void> {
    if (Date.now() - cleanedUpAt < cleanUpEveryMs) return;
    cleanedUpAt = Date.now();
    for (const name of await readdir(directory)) {
      const file = join(directory, name);
      const stats = await stat(file).catch(() => null);
      const keptMs = name.startsWith(buildPrefix) ? buildAbandonedAfterMs : keptUnusedMs;
      if (stats !== null && Date.now() - stats.mtimeMs > keptMs) await rm(file, { recursive: true, force: true });
    }
  }

  return { openBuild, fetch, keep, forget };
}

function nameOf(siteId: string, version: number): string {
  return `${siteId}-${version}.sqlite`;
}
