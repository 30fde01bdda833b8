import type { Pool, PoolClient } from 'pg';
import type { SiteRef } from '../caller.ts';
import { readWithin } from '../pool.ts';
import { onlyRow } from '../rows.ts';
import { siteMeasures, sitePagesSince, siteRollupsSince } from './site-rollups.ts';

interface AnalyticsQuery {
  /** Number of days (UTC), today last. */
  days: number;
  bucketSeconds: 3_600 | 86_400;
  /** Only questions of this version or language; empty for those without one. */
  version?: string;
  language?: string;
}

/** Counts of readers' questions, answers and conversations. */
export interface SiteMeasures {
  answered: number;
  unanswered: number;
  interrupted: number;
  up: number;
  down: number;
  conversations: number;
  resolved: number;
  confirmed: number;
  costMicros: number;
}

export type NamedMeasures = SiteMeasures & { name: string };

interface PageCount {
  path: string;
  /** Number of answers that cite the page. */
  cited: number;
  /** Number of times that readers opened the page through Docket. */
  opened: number;
}

export interface SiteAnalytics {
  /** Start of the first day. */
  from: Date;
  to: Date;
  totals: SiteMeasures;
  /** Intervals in which something happened. */
  series: (SiteMeasures & { at: Date })[];
  /** Entries with the most questions. An empty name stands for none. */
  topics: NamedMeasures[];
  versions: NamedMeasures[];
  languages: NamedMeasures[];
  cited: PageCount[];
  opened: PageCount[];
}

/** Largest number of topics, versions, languages and pages that are listed. */
export const maxListed = 50;

const from = `date_bin('1 day', now(), 'epoch'::timestamptz) - ($3::integer - 1) * interval '1 day'`;
const isWanted = `
  exists (select from sites where id = $1 and organization_id = $2)
  and ($4::text is null or version = $4) and ($5::text is null or language = $5)`;
const measures = siteMeasures
  .map((name) => `coalesce(sum(${name}), 0)::float8 as "${name === 'cost_micros' ? 'costMicros' : name}"`)
  .join(', ');
const questions = 'coalesce(sum(answered + unanswered + interrupted), 0)';

const measuresBy = (group: string, order: string, limit: number) => `
  select ${group}, ${measures} from (${siteRollupsSince(from, '$6')}) as period where ${isWanted}
  group by 1 having bool_or(${siteMeasures.map((name) => `${name} <> 0`).join(' or ')}) order by ${order} limit ${limit}`;
const statements = {
  totals: `select ${measures} from (${siteRollupsSince(from, '$6')}) as period where ${isWanted}`,
  series: measuresBy('at', '1', 400),
  topic: measuresBy('topic as name', `${questions} desc, 1`, maxListed),
  version: measuresBy('version as name', `${questions} desc, 1`, maxListed),
  language: measuresBy('language as name', `${questions} desc, 1`, maxListed),
};

const pagesBy = (count: 'cited' | 'opened') => `
  select path, sum(cited)::float8 as cited, sum(opened)::float8 as opened
  from (${sitePagesSince(from)}) as period where ${isWanted}
  group by path having sum(${count}) > 0 order by sum(${count}) desc, path limit ${maxListed}`;
const citedStatement = pagesBy('cited');
const openedStatement = pagesBy('opened');

export type SiteAnalyticsStore = ReturnType<typeof createSiteAnalyticsStore>;

/** Creates the store of a site's figures, which reads rollups. */
export function createSiteAnalyticsStore(pool: Pool) {
  return {
    /** Returns the figures of a site. The lists of versions and languages ignore the filter of their own kind. */
    async read({ id, organizationId }: SiteRef, query: AnalyticsQuery): Promise<SiteAnalytics> {
      const { days, bucketSeconds, version = null, language = null } = query;
      const wanted = [version, language];
      return readWithin(pool, 'report', async (client: PoolClient) => {
        const all = async <Row extends object>(statement: string, given: unknown[], ...more: number[]) =>
          (await client.query<Row>(statement, [id, organizationId, days, ...given, ...more])).rows;
        const span = await client.query<{ from: Date; to: Date }>(
          `select date_bin('1 day', now(), 'epoch'::timestamptz) - ($1::integer - 1) * interval '1 day' as from, now() as to`,
          [days],
        );
        return {
          ...onlyRow(span.rows),
          totals: onlyRow(await all<SiteMeasures>(statements.totals, wanted, bucketSeconds)),
          series: await all<SiteMeasures & { at: Date }>(statements.series, wanted, bucketSeconds),
          topics: await all<NamedMeasures>(statements.topic, wanted, bucketSeconds),
          versions: await all<NamedMeasures>(statements.version, [null, language], bucketSeconds),
          languages: await all<NamedMeasures>(statements.language, [version, null], bucketSeconds),
          cited: await all<PageCount>(citedStatement, wanted),
          opened: await all<PageCount>(openedStatement, wanted),
        };
      });
    },
  };
}
