import type { Pool, PoolClient } from 'pg';
import type { SiteRef } from '../caller.ts';
import {
  IndexGoneError,
  type KnownFile,
  removeOrphanBlocks,
  restoreBlocks,
  type StoredBlocks,
  storeBlocks,
  withBlocksKept,
} from './index-blocks.ts';
import { inTransaction } from '../pool.ts';
import { onlyRow } from '../rows.ts';
import type { IndexReport } from './site-sources.ts';

export interface StoredIndex {
  version: number;
  format: number;
  sourceHash: string;
  /** The source's name for the content, such as git's id of the folder; null where there is none. */
  revision: string | null;
  sizeBytes: number;
  pages: number;
  chunks: number;
}

/** Result of a build, with its file. */
interface NewIndex {
  format: number;
  sourceHash: string;
  revision?: string | null;
  pages: number;
  chunks: number;
  report?: IndexReport;
  file: string;
  /** Version that was current when the source was read, 0 for none. If omitted, any current version is replaced. */
  replaces?: number;
  /** The stored artifact of the version it replaces; blocks that are equal in both are not stored again. */
  previousFile?: string;
}

/** Another version was published since the source was read, perhaps of a newer state. */
class IndexReplacedError extends Error {
  override name = 'IndexReplacedError';
}

/** Number of older versions that are kept, for processes that learn of a new version late. */
const olderVersionsKept = 2;

const indexColumns = `
  version, format, source_hash as "sourceHash", revision, size_bytes::float8 as "sizeBytes", site_indexes.pages, chunks`;

export type SiteIndexStore = ReturnType<typeof createSiteIndexStore>;

/** Creates the store of sites' search artifacts, kept in blocks by content. */
export function createSiteIndexStore(pool: Pool) {
  /**
   * Stores the artifact in content-addressed blocks and makes it the current version; two older versions are kept.
   * An index of the same source and format as the current version keeps that one. Throws IndexReplacedError when the
   * current version is not the one it `replaces`. Stores blocks first, in short transactions; the version is added
   * in one, under a lock on the site.
   */
  async function publish(site: SiteRef, index: NewIndex): Promise<StoredIndex> {
    const published = await withBlocksKept(pool, async (client) => {
      for (;;) {
        const unchanged = isSame(await readCurrent(client, site), index);
        const stored = unchanged ? null : await storeBlocks(client, index.file, await previousOf(client, site, index));
        const made = await inTransaction(client, () => makeCurrent(client, { site, index, stored }));
        if (made !== null) return made;
      }
    });
    await removeOrphanBlocks(pool);
    return published;
  }

  /**
   * Writes the artifact of a version to a file, reusing blocks of `previous`, an earlier download. The file appears
   * once it is complete. Throws IndexGoneError when the version is no longer stored.
   */
  async function download(
    { id, organizationId }: SiteRef,
    version: number,
    target: { file: string; previous?: KnownFile },
  ): Promise<KnownFile> {
    const { rows } = await pool.query<StoredBlocks>(
      `select size_bytes::float8 as "sizeBytes",
              array(select hash from site_index_layout where site_id = $1 and version = $2 order by position) as hashes
       from site_indexes join sites on sites.id = site_id
       where site_id = $1 and version = $2 and organization_id = $3`,
      [id, version, organizationId],
    );
    const [stored] = rows;
    if (stored === undefined) throw new IndexGoneError(`Version ${version} of the index is no longer stored.`);
    return restoreBlocks(pool, stored, target);
  }

  /** Records that the current version is up to date. */
  async function confirm({ id, organizationId }: SiteRef): Promise<void> {
    await pool.query(
      `update sites set indexed_at = now(), index_failure = null, index_failure_message = null
       where id = $1 and organization_id = $2`,
      [id, organizationId],
    );
  }

  return {
    /** Returns the current version; null before the first. */
    current: (site: SiteRef): Promise<StoredIndex | null> => readCurrent(pool, site),
    publish,
    confirm,
    download,
  };
}

async function readCurrent(database: Pool | PoolClient, { id, organizationId }: SiteRef): Promise<StoredIndex | null> {
  const { rows } = await database.query<StoredIndex>({
    name: 'current-index',
    text: `
      select ${indexColumns} from sites
      join site_indexes on site_indexes.site_id = sites.id and site_indexes.version = sites.index_version
      where sites.id = $1 and organization_id = $2`,
    values: [id, organizationId],
  });
  return rows[0] ?? null;
}

function isSame(serving: StoredIndex | null, index: NewIndex): serving is StoredIndex {
  return serving !== null && serving.sourceHash === index.sourceHash && serving.format === index.format;
}

/** Reads a version while no block is removed, so that its blocks stay stored. */
async function previousOf(
  client: PoolClient,
  { id }: SiteRef,
  { previousFile, replaces }: NewIndex,
): Promise<{ file: string; hashes: Buffer[] } | null> {
  if (previousFile === undefined || replaces === undefined) return null;
  const { rows } = await client.query<{ hash: Buffer }>(
    'select hash from site_index_layout where site_id = $1 and version = $2 order by position',
    [id, replaces],
  );
  return { file: previousFile, hashes: rows.map(({ hash }) => hash) };
}

/** Null when the version to be kept was replaced meanwhile. */
async function makeCurrent(
  client: PoolClient,
  { site, index, stored }: { site: SiteRef; index: NewIndex; stored: StoredBlocks | null },
): Promise<StoredIndex | null> {
  // does not lock the key, because conversations that refer to the site are stored meanwhile
  const { id: siteId, organizationId } = site;
  const locked = await client.query<{ version: number }>(
    'select index_version as version from sites where id = $1 and organization_id = $2 for no key update',
    [siteId, organizationId],
  );
  const latest = onlyRow(locked.rows).version;
  const { rows } = await client.query<StoredIndex>(
    `select ${indexColumns} from site_indexes where site_id = $1 and version = $2`,
    [siteId, latest],
  );
  const serving = rows[0] ?? null;
  if (isSame(serving, index)) {
    await client.query('update site_indexes set revision = $3 where site_id = $1 and version = $2', [
      siteId,
      latest,
      index.revision ?? null,
    ]);
    await serve(client, siteId, { ...serving, report: index.report });
    return { ...serving, revision: index.revision ?? null };
  }
  if (index.replaces !== undefined && index.replaces !== latest) {
    throw new IndexReplacedError(`Version ${latest} of the index was published meanwhile.`);
  }
  if (stored === null) return null;
  const { file: _file, replaces: _replaces, previousFile: _previousFile, report, ...description } = index;
  const made = { ...description, revision: index.revision ?? null, version: latest + 1, sizeBytes: stored.sizeBytes };
  await client.query(
    `insert into site_indexes (site_id, version, format, source_hash, size_bytes, pages, chunks, revision)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [siteId, made.version, made.format, made.sourceHash, made.sizeBytes, made.pages, made.chunks, made.revision],
  );
  await client.query(
    `insert into site_index_layout (site_id, version, position, hash)
     select $1, $2, block.position - 1, block.hash from unnest($3::bytea[]) with ordinality as block (hash, position)`,
    [siteId, made.version, stored.hashes],
  );
  await client.query('delete from site_indexes where site_id = $1 and version < $2', [
    siteId,
    made.version - olderVersionsKept,
  ]);
  await serve(client, siteId, { ...made, report });
  return made;
}

async function serve(
  client: PoolClient,
  siteId: string,
  { version, pages, report }: Pick<NewIndex, 'pages' | 'report'> & { version: number },
): Promise<void> {
  await client.query(
    `update sites set index_version = $2, index_pages = $3, index_report = $4, indexed_at = now(), index_failure = null,
       index_failure_message = null
     where id = $1`,
    [siteId, version, pages, report ?? null],
  );
}
