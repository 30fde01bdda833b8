import type { Pool } from 'pg';
import { canBeId, newId } from './ids.ts';
import { removeOrphanBlocks } from './index-blocks.ts';
import { withTransaction } from './pool.ts';
import { toStoredText } from './stored-text.ts';

export {
  createSiteIndexStore,
  IndexGoneError,
  IndexReplacedError,
  type KnownFile,
  type NewIndex,
  type SiteIndexStore,
  type StoredIndex,
} from './site-indexes.ts';

export interface SiteRow {
  id: string;
  organizationId: string;
  domain: string;
  repository: string | null;
  directory: string | null;
  ref: string | null;
  path: string;
  /** Prefix of the links in sources; null: paths below `/`. */
  baseUrl: string | null;
  retentionDays: number;
  refreshMinutes: number | null;
  indexVersion: number;
  indexPages: number;
  indexedAt: Date | null;
  indexRequestedAt: Date | null;
  indexFailure: string | null;
  indexFailureMessage: string | null;
  createdAt: Date;
}

export interface NewSite {
  organizationId: string;
  domain: string;
  repository?: string;
  directory?: string;
  ref?: string;
  path?: string;
  baseUrl?: string;
  retentionDays?: number;
  refreshMinutes?: number;
}

/** What may be changed of a site; what is left out stays. Of repository and directory one is given, the other null. */
export type SiteChange = Partial<
  Pick<SiteRow, 'repository' | 'directory' | 'ref' | 'path' | 'baseUrl' | 'retentionDays' | 'refreshMinutes'>
>;

export interface IndexRequest {
  siteId: string;
  organizationId: string;
}

export interface SiteStore {
  /** Throws DomainTakenError when another site has the domain. */
  create(site: NewSite): Promise<SiteRow>;
  get(id: string): Promise<SiteRow | null>;
  findByDomain(domain: string): Promise<SiteRow | null>;
  list(organizationId?: string): Promise<SiteRow[]>;
  /** Changes a site and, when its pages come from elsewhere now, asks for an index. Null when there is no such site. */
  update(id: string, change: SiteChange): Promise<SiteRow | null>;
  /** Removes a site with its index and its conversations. False when there is no such site. */
  remove(id: string): Promise<boolean>;
  /** Marks that an index is wanted; the worker's sweeper starts what nobody started. */
  requestIndex(id: string): Promise<void>;
  /** The request that stands, by a name of its own; null: none. */
  readIndexRequest(id: string): Promise<string | null>;
  /** Takes a request back that has been answered; a newer one stays. */
  answerIndexRequest(id: string, request: string): Promise<void>;
  /** Sites whose index is wanted: the longest waiting of each organization, then the next of each. */
  listIndexRequests(limit: number): Promise<IndexRequest[]>;
  /** Asks for an index of every site whose current one is of an older format than this. */
  requestOutdated(format: number): Promise<void>;
  recordIndexFailure(id: string, failure: { category: string; message: string }): Promise<void>;
}

export class DomainTakenError extends Error {
  override name = 'DomainTakenError';
}

/** The columns of what may be changed; a change of a source leads to other pages. */
const changeable: Record<keyof SiteChange, { column: string; isSource: boolean }> = {
  repository: { column: 'repository', isSource: true },
  directory: { column: 'directory', isSource: true },
  ref: { column: 'ref', isSource: true },
  path: { column: 'path', isSource: true },
  baseUrl: { column: 'base_url', isSource: false },
  retentionDays: { column: 'retention_days', isSource: false },
  refreshMinutes: { column: 'refresh_minutes', isSource: false },
};

const siteColumns = `
  id, organization_id as "organizationId", domain, repository, directory, ref, path, base_url as "baseUrl",
  retention_days as "retentionDays", refresh_minutes as "refreshMinutes", index_version as "indexVersion",
  index_pages as "indexPages", indexed_at as "indexedAt", index_requested_at as "indexRequestedAt",
  index_failure as "indexFailure", index_failure_message as "indexFailureMessage", created_at as "createdAt"`;

/** Documentation sites. */
export function createSiteStore(pool: Pool): SiteStore {
  async function create(site: NewSite): Promise<SiteRow> {
    const { rows } = await pool.query<SiteRow>(
      `insert into sites (id, organization_id, domain, repository, directory, ref, path, base_url, retention_days,
                          refresh_minutes)
       values ($1, $2, $3, $4, $5, $6, coalesce($7, ''), $8, coalesce($9, 30), $10)
       on conflict (domain) do nothing
       returning ${siteColumns}`,
      [
        newId('site_'),
        site.organizationId,
        site.domain,
        site.repository ?? null,
        site.directory ?? null,
        site.ref ?? null,
        site.path ?? null,
        site.baseUrl ?? null,
        site.retentionDays ?? null,
        site.refreshMinutes ?? null,
      ],
    );
    const [created] = rows;
    if (created === undefined) throw new DomainTakenError(`The domain ${site.domain} is another site's already.`);
    return created;
  }

  async function get(id: string): Promise<SiteRow | null> {
    if (!canBeId(id)) return null;
    const { rows } = await pool.query<SiteRow>(`select ${siteColumns} from sites where id = $1`, [id]);
    return rows[0] ?? null;
  }

  async function findByDomain(domain: string): Promise<SiteRow | null> {
    const { rows } = await pool.query<SiteRow>({
      name: 'find-site',
      text: `select ${siteColumns} from sites where domain = $1`,
      values: [toStoredText(domain)],
    });
    return rows[0] ?? null;
  }

  async function list(organizationId?: string): Promise<SiteRow[]> {
    const { rows } = await pool.query<SiteRow>(
      `select ${siteColumns} from sites where $1::text is null or organization_id = $1 order by created_at, id`,
      [organizationId ?? null],
    );
    return rows;
  }

  async function update(id: string, change: SiteChange): Promise<SiteRow | null> {
    const given = Object.entries(changeable).filter(([name]) => Object.hasOwn(change, name));
    const isElsewhere = given.some(([, { isSource }]) => isSource);
    const assignments = [
      'id = id',
      ...given.map(([, { column }], position) => `${column} = $${position + 2}`),
      ...(isElsewhere ? ['index_requested_at = now()'] : []),
    ];
    const { rows } = await pool.query<SiteRow>(
      `update sites set ${assignments.join(', ')} where id = $1 returning ${siteColumns}`,
      [id, ...given.map(([name]) => Reflect.get(change, name))],
    );
    return rows[0] ?? null;
  }

  /** Holds the site first, so that no conversation and no index is added meanwhile. */
  async function remove(id: string): Promise<boolean> {
    const isRemoved = await withTransaction(pool, async (client) => {
      const { rowCount } = await client.query('select from sites where id = $1 for update', [id]);
      if (rowCount !== 1) return false;
      for (const table of ['replies', 'threads', 'site_indexes'])
        await client.query(`delete from ${table} where site_id = $1`, [id]);
      await client.query('delete from sites where id = $1', [id]);
      return true;
    });
    if (isRemoved) await removeOrphanBlocks(pool);
    return isRemoved;
  }

  async function requestIndex(id: string): Promise<void> {
    await pool.query('update sites set index_requested_at = now() where id = $1', [id]);
  }

  async function readIndexRequest(id: string): Promise<string | null> {
    const { rows } = await pool.query<{ request: string | null }>(
      'select index_requested_at::text as request from sites where id = $1',
      [id],
    );
    return rows[0]?.request ?? null;
  }

  async function answerIndexRequest(id: string, request: string): Promise<void> {
    await pool.query(
      'update sites set index_requested_at = null where id = $1 and index_requested_at = $2::timestamptz',
      [id, request],
    );
  }

  async function listIndexRequests(limit: number): Promise<IndexRequest[]> {
    const { rows } = await pool.query<IndexRequest>({
      name: 'index-requests',
      text: `select id as "siteId", organization_id as "organizationId" from sites where index_requested_at is not null
             order by row_number() over (partition by organization_id order by index_requested_at), index_requested_at
             limit $1`,
      values: [limit],
    });
    return rows;
  }

  async function requestOutdated(format: number): Promise<void> {
    await pool.query(
      `update sites set index_requested_at = now()
       from site_indexes as serving
       where serving.site_id = sites.id and serving.version = sites.index_version and serving.format < $1
         and sites.index_requested_at is null`,
      [format],
    );
  }

  async function recordIndexFailure(id: string, failure: { category: string; message: string }): Promise<void> {
    await pool.query('update sites set index_failure = $2, index_failure_message = $3 where id = $1', [
      id,
      failure.category,
      toStoredText(failure.message),
    ]);
  }

  return {
    create,
    get,
    findByDomain,
    list,
    update,
    remove,
    requestIndex,
    readIndexRequest,
    answerIndexRequest,
    listIndexRequests,
    requestOutdated,
    recordIndexFailure,
  };
}
