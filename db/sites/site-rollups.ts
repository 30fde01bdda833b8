/** Widths of the time slots of `site_rollups` in seconds, and how long their rows are kept. */
export const siteRollupWidths = [
  { seconds: 3_600, kept: '8 days' },
  { seconds: 86_400, kept: '400 days' },
];

export const siteMeasures = [
  'answered',
  'unanswered',
  'interrupted',
  'up',
  'down',
  'conversations',
  'resolved',
  'confirmed',
  'cost_micros',
];

const slot = 'site_id, seconds, at, version, language, topic';
const page = 'site_id, day, version, language, path';
const columns = `${slot}, ${siteMeasures.join(', ')}`;
const sums = siteMeasures.map((name) => `sum(${name})::bigint as ${name}`).join(', ');

/** Returns a query that rolls facts up into rows of `site_rollups`, for slots of all widths or of one. */
const rolledUp = (facts: string, seconds?: string) => `
  select site_id, seconds, date_bin(seconds * interval '1 second', at, 'epoch'::timestamptz) as at, version, language, topic, ${sums}
  from ${facts} as fact,
       (values ${siteRollupWidths.map((width) => `(${width.seconds}, interval '${width.kept}')`).join(', ')}) as widths (seconds, kept)
  where at > now() - kept and opened is null ${seconds === undefined ? '' : `and seconds = ${seconds}`}
  group by site_id, seconds, date_bin(seconds * interval '1 second', at, 'epoch'::timestamptz), version, language, topic`;

/** Returns a query that rolls facts up into rows of `site_page_rollups`. */
const rolledPages = (facts: string) => `
  select site_id, date_bin('1 day', at, 'epoch'::timestamptz) as day, version, language, path,
         sum(cited)::bigint as cited, sum(opened)::bigint as opened
  from (
    select site_id, at, version, language, path, 1 as cited, 0 as opened from ${facts} as fact, unnest(cited) as path
    union all
    select site_id, at, version, language, opened, 0, opens from ${facts} as fact where opened is not null
  ) as counted group by site_id, date_bin('1 day', at, 'epoch'::timestamptz), version, language, path`;

/** Returns statements that add facts to the rollups, to be used as CTEs. */
export const addSiteRollups = (facts: string) => `
  added as (
    insert into site_rollups as rollups (${columns})
    select ${columns} from (${rolledUp(facts)}) as added order by ${slot}
    on conflict (${slot}) do update set ${siteMeasures.map((name) => `${name} = rollups.${name} + excluded.${name}`).join(', ')}
  ), added_pages as (
    insert into site_page_rollups as rollups (${page}, cited, opened)
    select ${page}, cited, opened from (${rolledPages(facts)}) as added order by ${page}
    on conflict (${page}) do update set cited = rollups.cited + excluded.cited, opened = rollups.opened + excluded.opened
  )`;

const pending = (from: string) => `(select * from site_facts where site_id = $1 and at >= ${from})`;

/** Returns a query for the rollups of site `$1` from a time on, including facts that are not rolled up yet. */
export const siteRollupsSince = (from: string, seconds: string) => `
  select ${columns} from site_rollups where site_id = $1 and seconds = ${seconds} and at >= ${from}
  union all
  select ${columns} from (${rolledUp(pending(from), seconds)}) as pending`;

/** Returns a query for the pages of site `$1` from a day on, including facts that are not rolled up yet. */
export const sitePagesSince = (from: string) => `
  select ${page}, cited, opened from site_page_rollups where site_id = $1 and day >= ${from}
  union all
  select ${page}, cited, opened from (${rolledPages(pending(from))}) as pending`;
