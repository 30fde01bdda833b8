import type { Pool } from 'pg';
import type { Owner } from '../caller.ts';
import { readWithin } from '../pool.ts';
import { onlyRow } from '../rows.ts';
import { msOfBin, namedMeasures, rollupsSince, rollupWidths } from './rollups.ts';

interface OperationsQuery {
  hours: number;
  bucketSeconds: number;
}

interface Percentiles {
  count: number;
  p50Ms: number | null;
  p95Ms: number | null;
}

/** Figures of one interval. */
interface OperationsPoint {
  at: Date;
  created: number;
  completed: number;
  failed: number;
  cancelled: number;
  answered: number;
  unanswered: number;
  costMicros: number;
  inputTokens: number;
  cachedTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
}

type Measure = 'turn' | 'model' | 'answer' | 'firstToken';

/** Durations of one interval, or of the whole period. */
export interface MeasuredDurations extends Percentiles {
  measure: Measure;
  at: Date | null;
}

/** Turns by how they ended, and the cost of model calls. */
export interface NamedFigures {
  /** Name of the model, or id of the project. */
  id: string;
  completed: number;
  failed: number;
  cancelled: number;
  costMicros: number;
}

export interface Operations {
  /** Start of the first slot that the figures contain. */
  from: Date;
  to: Date;
  series: OperationsPoint[];
  durations: MeasuredDurations[];
  failures: { category: string; count: number }[];
  /** Those with the most turns. */
  models: NamedFigures[];
  /** Those with the most turns; the name is null after the deletion of a project. */
  projects: (NamedFigures & { name: string | null })[];
  queue: { waiting: number; oldestSeconds: number | null; active: number };
}

/** Maximum number of failure categories. */
export const maxFailures = 50;

/** Maximum number of models, and of projects. */
export const maxNamed = 20;

/** Start of the bucket that contains a time. */
const bucket = `date_bin($4::integer * interval '1 second', at, 'epoch'::timestamptz)`;
const fromOf = (hours: string, seconds: string) =>
  `date_bin(${seconds}::integer * interval '1 second', now() - ${hours}::integer * interval '1 hour', 'epoch'::timestamptz)`;
const period = `with period as materialized (${rollupsSince(fromOf('$2', '$3'), '$3')})`;

const seriesStatement = `
  ${period}
  select ${bucket} as at, ${['created', 'completed', 'failed', 'cancelled', 'answered', 'unanswered']
    .map((name) => `sum(${name})::integer as ${name}`)
    .join(', ')},
         sum(cost_micros)::float8 as "costMicros", sum(input_tokens)::float8 as "inputTokens",
         sum(cached_tokens)::float8 as "cachedTokens", sum(cache_write_tokens)::float8 as "cacheWriteTokens",
         sum(output_tokens)::float8 as "outputTokens"
  from period group by 1 order by 1`;

const failuresStatement = `
  ${period}
  select key as category, sum(value::bigint)::integer as count from period, jsonb_each_text(failures)
  group by key order by sum(value::bigint) desc, key limit ${maxFailures}`;

const namedStatement = (map: 'models' | 'projects') => `
  ${period}
  select substr(key, strpos(key, ' ') + 1) as id,
         ${namedMeasures
           .map(
             (measure) =>
               `coalesce(sum(value::bigint) filter (where key ^@ '${measure} '), 0)::float8
                as "${measure === 'cost' ? 'costMicros' : measure}"`,
           )
           .join(', ')}
  from period, jsonb_each_text(${map}) group by 1
  order by sum(value::bigint) filter (where not key ^@ 'cost ') desc nulls last, 1 limit ${maxNamed}`;

const projectsStatement = `
  select named.*, projects.name from (${namedStatement('projects')}) as named
  left join projects on projects.id = named.id and projects.organization_id = $1
  order by completed + failed + cancelled desc, named.id`;

const percentile = (share: number) => `${msOfBin(`min(bin) filter (where upto >= ${share} * total)`)}`;

/** Without a bucket: the whole period. */
const durationsStatement = `
  ${period}, binned as (
    select measure, ${bucket} as at, key::integer as bin, value::bigint as count
    from period, lateral (
      values ('turn', turn_ms), ('model', model_ms), ('answer', answer_ms), ('firstToken', first_token_ms)
    ) as measures (measure, counts), jsonb_each_text(counts)
  ), bins as (
    select measure, at, bin, sum(count) as count from binned group by grouping sets ((measure, at, bin), (measure, bin))
  ), running as (
    select measure, at, bin, sum(count) over (partition by measure, at order by bin) as upto,
           sum(count) over (partition by measure, at) as total
    from bins
  )
  select measure, at, max(total)::integer as count, ${percentile(0.5)} as "p50Ms", ${percentile(0.95)} as "p95Ms"
  from running group by measure, at`;

const queueStatement = `
  select count(*) filter (where phase = 'queued')::integer as waiting, count(*)::integer as active,
         extract(epoch from now() - min(updated_at) filter (where phase = 'queued'))::float8 as "oldestSeconds"
  from jobs where organization_id = $1 and status = 'active'`;

export type OperationsStore = ReturnType<typeof createOperationsStore>;

/** Creates the store of operational figures, which reads rollups. */
export function createOperationsStore(pool: Pool) {
  return {
    /**
     * Returns what happened in an organization in the last hours, in buckets that start at whole multiples of their
     * length.
     */
    async read({ organizationId }: Owner, { hours, bucketSeconds }: OperationsQuery): Promise<Operations> {
      const seconds = rollupWidths.findLast((width) => bucketSeconds % width.seconds === 0)?.seconds ?? 60;
      return readWithin(pool, 'report', async (client) => {
        const all = async <Row extends object>(statement: string) => {
          const values = [organizationId, hours, seconds, bucketSeconds].slice(0, highestParameter(statement));
          return (await client.query<Row>(statement, values)).rows;
        };
        const { rows } = await client.query<Pick<Operations, 'from' | 'to'>>(
          `select ${fromOf('$1', '$2')} as from, now() as to`,
          [hours, seconds],
        );
        return {
          ...onlyRow(rows),
          series: await all<OperationsPoint>(seriesStatement),
          durations: await all<MeasuredDurations>(durationsStatement),
          failures: await all<Operations['failures'][number]>(failuresStatement),
          models: await all<NamedFigures>(namedStatement('models')),
          projects: await all<Operations['projects'][number]>(projectsStatement),
          queue: onlyRow(await all<Operations['queue']>(queueStatement)),
        };
      });
    },
  };
}

/** PostgreSQL accepts only the values that a statement names. */
function highestParameter(statement: string): number {
  return Math.max(...[...statement.matchAll(/\$(\d)/g)].map(([, number]) => Number(number)));
}
