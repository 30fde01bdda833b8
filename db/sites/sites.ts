import type { Pool } from 'pg';
import { writeAudit } from '../organizations/audit.ts';
import type { Caller, Owner } from '../caller.ts';
import { newId } from '../ids.ts';
import { removeOrphanBlocks } from './index-blocks.ts';
import { mostChoices, readPage, type Page, type PageQuery } from '../page.ts';
import { withTransaction } from '../pool.ts';
import { toStoredText } from '../stored-text.ts';

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

export interface SiteStore {
  /** Asks for the first index, too. Throws DomainTakenError when the organization has a site of the domain. */
  create(caller: Caller, site: NewSite): Promise<SiteRow>;
  findByDomain(owner: Owner, domain: string): Promise<SiteRow | null>;
  /** Oldest first. Throws InvalidCursorError. */
  list(owner: Owner, query: PageQuery): Promise<Page<SiteRow>>;
  /** The domains of the first sites, for a choice. */
  domains(owner: Owner): Promise<Pick<SiteRow, 'domain'>[]>;
  /** Changes a site and, when its pages come from elsewhere now, asks for an index. Null when there is no such site. */
  update(caller: Caller, id: string, change: SiteChange): Promise<SiteRow | null>;
  /** Removes a site with its index and its conversations. False when there is no such site. */
  remove(caller: Caller, id: string): Promise<boolean>;
  /** Asks for an index; the worker starts it. Null when there is no such site. */
  requestIndex(caller: Caller, id: string): Promise<SiteRow | null>;
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

export const siteColumns = `
  id, organization_id as "organizationId", domain, repository, directory, ref, path, base_url as "baseUrl",
  retention_days as "retentionDays", refresh_minutes as "refreshMinutes", index_version as "indexVersion",
  index_pages as "indexPages", indexed_at as "indexedAt", index_requested_at as "indexRequestedAt",
  index_failure as "indexFailure", index_failure_message as "indexFailureMessage", created_at as "createdAt"`;

/** Documentation sites. */
export function createSiteStore(pool: Pool): SiteStore {
  function create(caller: Caller, site: NewSite): Promise<SiteRow> {
    return withTransaction(pool, async (client) => {
      const { rows } = await client.query<SiteRow>(
        `insert into sites (id, organization_id, domain, repository, directory, ref, path, base_url, retention_days,
                            refresh_minutes, index_requested_at)
         values ($1, $2, $3, $4, $5, $6, coalesce($7, ''), $8, coalesce($9, 30), $10, now())
         on conflict (organization_id, domain) do nothing
         returning ${siteColumns}`,
        [
          newId('site_'),
          caller.organizationId,
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
      if (created === undefined) throw new DomainTakenError(`The organization has a site ${site.domain} already.`);
      await writeAudit(client, caller, { action: 'site.create', subject: site.domain });
      return created;
    });
  }

  async function findByDomain({ organizationId }: Owner, domain: string): Promise<SiteRow | null> {
    const { rows } = await pool.query<SiteRow>({
      name: 'find-site',
      text: `select ${siteColumns} from sites where organization_id = $1 and domain = $2`,
      values: [organizationId, toStoredText(domain)],
    });
    return rows[0] ?? null;
  }

  function list(owner: Owner, query: PageQuery): Promise<Page<SiteRow>> {
    return readPage<SiteRow>(pool, { table: 'sites', columns: siteColumns }, owner, query);
  }

  async function domains({ organizationId }: Owner): Promise<Pick<SiteRow, 'domain'>[]> {
    const { rows } = await pool.query<Pick<SiteRow, 'domain'>>(
      `select domain from sites where organization_id = $1 order by created_at, id limit ${mostChoices}`,
      [organizationId],
    );
    return rows;
  }

  function update(caller: Caller, id: string, change: SiteChange): Promise<SiteRow | null> {
    const given = Object.entries(changeable).filter(([name]) => Object.hasOwn(change, name));
    const isElsewhere = given.some(([, { isSource }]) => isSource);
    return write(caller, id, {
      action: 'site.change',
      details: { fields: given.map(([name]) => name) },
      assignments: [
        'id = id',
        ...given.map(([, { column }], position) => `${column} = $${position + 3}`),
        ...(isElsewhere ? ['index_requested_at = now()'] : []),
      ],
      values: given.map(([name]) => Reflect.get(change, name)),
    });
  }

  function requestIndex(caller: Caller, id: string): Promise<SiteRow | null> {
    return write(caller, id, { action: 'site.index', assignments: ['index_requested_at = now()'], values: [] });
  }

  function write(
    caller: Caller,
    id: string,
    change: { action: string; details?: Record<string, unknown>; assignments: string[]; values: unknown[] },
  ): Promise<SiteRow | null> {
    return withTransaction(pool, async (client) => {
      const { rows } = await client.query<SiteRow>(
        `update sites set ${change.assignments.join(', ')} where id = $1 and organization_id = $2 returning ${siteColumns}`,
        [id, caller.organizationId, ...change.values],
      );
      const [site] = rows;
      if (site === undefined) return null;
      await writeAudit(client, caller, { action: change.action, subject: site.domain, details: change.details });
      return site;
    });
  }

  /** Holds the site first, so that no conversation and no index is added meanwhile. */
  async function remove(caller: Caller, id: string): Promise<boolean> {
    const isRemoved = await withTransaction(pool, async (client) => {
      const { rows } = await client.query<{ domain: string }>(
        'select domain from sites where id = $1 and organization_id = $2 for update',
        [id, caller.organizationId],
      );
      const [site] = rows;
      if (site === undefined) return false;
      for (const table of ['replies', 'threads', 'site_indexes'])
        await client.query(`delete from ${table} where site_id = $1`, [id]);
      await client.query('delete from sites where id = $1', [id]);
      await writeAudit(client, caller, { action: 'site.delete', subject: site.domain });
      return true;
    });
    if (isRemoved) await removeOrphanBlocks(pool);
    return isRemoved;
  }

  return { create, findByDomain, list, domains, update, remove, requestIndex };
}
