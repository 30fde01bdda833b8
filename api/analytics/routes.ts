import { z } from 'zod';
import type { SiteRow } from '../../db/sites/sites.ts';
import type { SiteAnalyticsStore } from '../../db/sites/site-analytics.ts';
import type { Admission } from '../access/request-access.ts';
import type { AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import type { Gaps } from '../sites/gaps.ts';
import type { ReadSite } from '../sites/site-reader.ts';
import { domain } from '../sites/site-schemas.ts';
import { presentAnalytics } from './present.ts';
import {
  analyticsQuerySchema,
  analyticsSchema,
  bucketSecondsOf,
  tableQuerySchema,
  type tableNames,
} from './schemas.ts';
import { writeCsv } from './write-csv.ts';

/** Routes for the analytics of a site. */
export const analyticsRoutes = {
  getSiteAnalytics: defineRoute({
    method: 'get',
    path: '/v1/sites/{domain}/analytics',
    summary: 'Returns what readers asked a site: over time, by topic, version and language, and on which pages.',
    description:
      'Periods of up to 7 days have hourly intervals, longer ones daily. The figures are counts without texts or readers; they stay when conversations are deleted.',
    params: { domain },
    query: analyticsQuerySchema,
    responses: { 200: json('The figures.', analyticsSchema) },
  }),
  exportSiteAnalytics: defineRoute({
    method: 'get',
    path: '/v1/sites/{domain}/analytics/csv',
    summary: 'Returns one list of the analytics of a site as CSV.',
    description: "Text that a spreadsheet would run as a formula is prefixed with `'`.",
    params: { domain },
    query: tableQuerySchema,
    responses: {
      200: { description: 'The list, with a header.', content: { 'text/csv': z.string() } },
    },
  }),
};

export interface AnalyticsRouteDeps {
  admit: Admission;
  readSite: ReadSite;
  analytics: SiteAnalyticsStore;
  gapReader: Pick<Gaps, 'list'>;
}

export function createAnalyticsRouter({ admit, readSite, analytics, gapReader }: AnalyticsRouteDeps): AppRouter {
  async function read(site: SiteRow, query: { days: number; version?: string; language?: string }) {
    const bucketSeconds = bucketSecondsOf(query.days);
    const figures = await analytics.read(site, { ...query, bucketSeconds });
    return presentAnalytics(figures, { bucketSeconds, gaps: await gapReader.list(site) });
  }

  return mountRoutes(admit, analyticsRoutes, {
    async getSiteAnalytics({ caller, params, query }) {
      return read(await readSite(caller, params.domain), query);
    },

    async exportSiteAnalytics({ ctx, caller, params, query: { table, ...query } }) {
      const site = await readSite(caller, params.domain);
      const rows: object[] = (await read(site, query))[table];
      ctx.set('Content-Disposition', `attachment; filename="${site.domain}-${table}.csv"`);
      return writeCsv(
        columnsOf(table),
        rows.map((row) => columnsOf(table).map((column) => Reflect.get(row, column))),
      );
    },
  });
}

/** Returns the columns of a list in the order of its schema. */
function columnsOf(table: (typeof tableNames)[number]): string[] {
  return Object.keys(analyticsSchema.shape[table].element.shape);
}
