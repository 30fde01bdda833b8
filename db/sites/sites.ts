import type { Pool } from 'pg';
import { writeAudit } from '../organizations/audit.ts';
import { createBatchLoader } from '../batch-loader.ts';
import type { Caller, Owner, SiteRef } from '../caller.ts';
import { newId } from '../ids.ts';
import { removeSite } from './remove-site.ts';
import { maxChoices, readPage, type Page, type PageQuery } from '../page.ts';
import { withTransaction } from '../pool.ts';
import { toStoredText } from '../stored-text.ts';
import type { AddedSource, IndexReport } from './site-sources.ts';

export interface SiteRow {
  id: string;
  organizationId: string;
  domain: string;
  repository: string | null;
  directory: string | null;
  ref: string | null;
  path: string;
  /** Sources beside the repository or directory, which a site may do without if it has any of these. */
  sources: AddedSource[];
  /** Prefix of the links in sources; null for paths below `/`. */
  baseUrl: string | null;
  retentionDays: number;
  refreshMinutes: number | null;
  indexVersion: number;
  indexPages: number;
  indexedAt: Date | null;
  indexRequestedAt: Date | null;
  indexFailure: string | null;
  indexFailureMessage: string | null;
  /** Null before the first index. */
  indexReport: IndexReport | null;
  /** Budget of its answers per day (UTC), in millionths of a US dollar; null for no limit of its own. */
  answerBudgetMicros: number | null;
  /** Instructions of the owner for the model that answers; null for none. */
  instructions: string | null;
  starterQuestions: string[];
  /** Model that rewrites questions for the search, as `provider/model`; null for none. */
  queryRewriting: string | null;
  /** Whether statements of an answer that its sources do not support are only reported, or left out. */
  unsupported: 'mark' | 'cut';
  /** URL (https or mailto) of whom a reader may ask what the documentation does not answer; null for none. */
  contact: string | null;
  /** Requests of readers about it; null for no limit of its own. */
  requestsPerMinute: number | null;
  requestsPerDay: number | null;
  /** Signature of the readers' tokens; null while the site accepts none. */
  readerTokens: ReaderTokens | null;
  /** Question set that a new index must answer about as well as the current one; null for none. */
  guardSetId: string | null;
  /** Share of the questions by which it may be worse, from 0 to 1. */
  guardMargin: number | null;
  createdAt: Date;
}

/** Issuer and algorithm of the tokens that prove which groups a reader belongs to. */
interface ReaderTokens {
  issuer: string;
  algorithm: 'HS256' | 'EdDSA';
}

/** Also has the key that verifies the tokens, encrypted for the site (`readerKeyOwner`). */
export interface ReaderKey extends ReaderTokens {
  key: string;
}

/** Columns that can be changed; a changed source requires an index. */
const changeable = {
  repository: { column: 'repository', isSource: true },
  directory: { column: 'directory', isSource: true },
  ref: { column: 'ref', isSource: true },
  path: { column: 'path', isSource: true },
  sources: { column: 'sources', isSource: true },
  baseUrl: { column: 'base_url', isSource: false },
  retentionDays: { column: 'retention_days', isSource: false },
  refreshMinutes: { column: 'refresh_minutes', isSource: false },
  answerBudgetMicros: { column: 'answer_budget_micros', isSource: false },
  instructions: { column: 'instructions', isSource: false },
  starterQuestions: { column: 'starter_questions', isSource: false },
  queryRewriting: { column: 'query_rewriting', isSource: false },
  unsupported: { column: 'unsupported', isSource: false },
  contact: { column: 'contact', isSource: false },
  requestsPerMinute: { column: 'requests_per_minute', isSource: false },
  requestsPerDay: { column: 'requests_per_day', isSource: false },
  guardSetId: { column: 'guard_set_id', isSource: false },
  guardMargin: { column: 'guard_margin', isSource: false },
} satisfies Partial<Record<keyof SiteRow, { column: string; isSource: boolean }>>;

export type NewSite = Pick<SiteRow, 'domain'> &
  Partial<Pick<SiteRow, Exclude<keyof typeof changeable, 'guardSetId' | 'guardMargin'>>>;

/** Changes of a site; omitted fields stay. Of repository and directory, one is given and the other null. */
export type SiteChange = Partial<Pick<SiteRow, keyof typeof changeable>> & { readerTokens?: ReaderKey | null };

export class DomainTakenError extends Error {
  override name = 'DomainTakenError';
}

export const siteColumns = `
  id, organization_id as "organizationId", domain, repository, directory, ref, path, sources, base_url as "baseUrl",
  retention_days as "retentionDays", refresh_minutes as "refreshMinutes", index_version as "indexVersion",
  index_pages as "indexPages", indexed_at as "indexedAt", index_requested_at as "indexRequestedAt",
  index_failure as "indexFailure", index_failure_message as "indexFailureMessage", index_report as "indexReport", created_at as "createdAt",
  answer_budget_micros::float8 as "answerBudgetMicros", instructions, starter_questions as "starterQuestions",
  query_rewriting as "queryRewriting", unsupported, contact,
  requests_per_minute as "requestsPerMinute", requests_per_day as "requestsPerDay", guard_set_id as "guardSetId",
  guard_margin as "guardMargin",
  case when reader_issuer is not null
       then json_build_object('issuer', reader_issuer, 'algorithm', reader_algorithm) end as "readerTokens"`;

/** Purpose under which the key of a site's reader tokens is encrypted. */
export function readerKeyOwner(siteId: string): string {
  return `site-reader-key/${siteId}`;
}

export type SiteStore = ReturnType<typeof createSiteStore>;

/** Creates the store of documentation sites. */
export function createSiteStore(pool: Pool) {
  /** Also requests the first index. Throws DomainTakenError when the organization has a site with the domain. */
  function create(caller: Caller, site: NewSite): Promise<SiteRow> {
    return withTransaction(pool, async (client) => {
      const { rows } = await client.query<SiteRow>(
        `insert into sites (id, organization_id, domain, repository, directory, ref, path, base_url, retention_days,
                            refresh_minutes, answer_budget_micros, instructions, starter_questions, unsupported, contact,
                            requests_per_minute, requests_per_day, sources, query_rewriting, index_requested_at)
         values ($1, $2, $3, $4, $5, $6, coalesce($7, ''), $8, coalesce($9, 30), $10, $11, $12, $13, coalesce($14, 'mark'), $15,
                 $16, $17, $18, $19, now())
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
          site.answerBudgetMicros ?? null,
          site.instructions ?? null,
          site.starterQuestions ?? [],
          site.unsupported ?? null,
          site.contact ?? null,
          site.requestsPerMinute ?? null,
          site.requestsPerDay ?? null,
          JSON.stringify(site.sources ?? []),
          site.queryRewriting ?? null,
        ],
      );
      const [created] = rows;
      if (created === undefined) throw new DomainTakenError(`The organization already has a site ${site.domain}.`);
      await writeAudit(client, caller, { action: 'site.create', subject: site.domain });
      return created;
    });
  }

  // questions that arrive together share a statement
  const byDomain = createBatchLoader<Owner & { domain: string }, SiteRow>({
    keyOf: ({ organizationId, domain }) => `${organizationId}/${domain}`,
    async loadMany(keys) {
      const { rows } = await pool.query<SiteRow>({
        name: 'find-sites',
        text: `
          select ${siteColumns}
          from unnest($1::text[], $2::text[]) as wanted (organization_id, domain)
          join sites using (organization_id, domain)`,
        values: [keys.map(({ organizationId }) => organizationId), keys.map(({ domain }) => domain)],
      });
      return rows;
    },
  });

  function findByDomain({ organizationId }: Owner, domain: string): Promise<SiteRow | null> {
    return byDomain.load({ organizationId, domain: toStoredText(domain) });
  }

  /** Oldest first. Throws InvalidCursorError. */
  function list(owner: Owner, query: PageQuery): Promise<Page<SiteRow>> {
    return readPage<SiteRow>(pool, { table: 'sites', columns: siteColumns }, owner, query);
  }

  /** Returns the domains of the first sites, for a picker. */
  async function domains({ organizationId }: Owner): Promise<Pick<SiteRow, 'domain'>[]> {
    const { rows } = await pool.query<Pick<SiteRow, 'domain'>>(
      `select domain from sites where organization_id = $1 order by created_at, id limit ${maxChoices}`,
      [organizationId],
    );
    return rows;
  }

  /** Changes a site and, if its source changes, requests an index. Null when there is no such site. */
  function update(caller: Caller, id: string, change: SiteChange): Promise<SiteRow | null> {
    const { readerTokens } = change;
    const given = Object.entries(changeable).filter(([name]) => Object.hasOwn(change, name));
    const isElsewhere = given.some(([, { isSource }]) => isSource);
    const columns: [string, unknown][] = given.map(([name, { column }]) => [
      column,
      // pg would write it as a PostgreSQL array
      name === 'sources' ? JSON.stringify(change.sources) : Reflect.get(change, name),
    ]);
    if (readerTokens !== undefined)
      columns.push(
        ['reader_issuer', readerTokens?.issuer ?? null],
        ['reader_algorithm', readerTokens?.algorithm ?? null],
        ['reader_key', readerTokens?.key ?? null],
      );
    return write(caller, id, {
      action: 'site.change',
      details: { fields: Object.keys(change) },
      assignments: [
        'id = id',
        ...columns.map(([column], position) => `${column} = $${position + 3}`),
        ...(isElsewhere ? ['index_requested_at = now()'] : []),
      ],
      values: columns.map(([, value]) => value),
    });
  }

  /** Requests an index, which the worker starts; a forced one is used even if it is worse. Null when there is no such site. */
  function requestIndex(
    caller: Caller,
    id: string,
    { isForced }: { isForced: boolean } = { isForced: false },
  ): Promise<SiteRow | null> {
    const assignments = ['index_requested_at = now()', ...(isForced ? ['index_forced = true'] : [])];
    return write(caller, id, { action: 'site.index', assignments, values: [] });
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

  /** Returns what verifies the tokens of a site's readers; null while it accepts none. */
  async function readerKey({ id, organizationId }: SiteRef): Promise<ReaderKey | null> {
    const { rows } = await pool.query<{ tokens: ReaderTokens | null; key: string | null }>(
      `select json_build_object('issuer', reader_issuer, 'algorithm', reader_algorithm) as tokens, reader_key as key
       from sites where id = $1 and organization_id = $2`,
      [id, organizationId],
    );
    const { tokens = null, key = null } = rows[0] ?? {};
    return tokens === null || key === null ? null : { ...tokens, key };
  }

  return {
    create,
    findByDomain,
    list,
    domains,
    update,
    readerKey,
    /** Removes a site with its index and its conversations. False when there is no such site. */
    remove: (caller: Caller, id: string): Promise<boolean> => removeSite(pool, caller, id),
    requestIndex,
  };
}
