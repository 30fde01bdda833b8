/** Widths of the time slots of `operation_rollups` in seconds, and how long their rows are kept. */
export const rollupWidths = [
  { seconds: 60, kept: '12 hours' },
  { seconds: 900, kept: '3 days' },
  { seconds: 3_600, kept: '100 days' },
];

/** Durations are counted in bins, each this much longer than the one before: a percentile is off by 2.5% at most. */
export const binGrowth = 1.05;
const binOf = (ms: string) => `ceil(ln(greatest(${ms}, 1)) / ln(${binGrowth}))::integer::text`;
/** Returns the duration in the middle of a bin. */
export const msOfBin = (bin: string) => `(${binGrowth} ^ (${bin} - 0.5))::float8`;

const sums = {
  created: `count(*) filter (where kind = 'created')`,
  completed: `count(*) filter (where kind = 'completed')`,
  failed: `count(*) filter (where kind = 'failed' and category is distinct from 'cancelled')`,
  cancelled: `count(*) filter (where kind = 'failed' and category = 'cancelled')`,
  answered: `count(*) filter (where kind = 'answered')`,
  unanswered: `count(*) filter (where kind = 'unanswered')`,
  input_tokens: 'coalesce(sum(input_tokens), 0)::bigint',
  cached_tokens: 'coalesce(sum(cached_tokens), 0)::bigint',
  cache_write_tokens: 'coalesce(sum(cache_write_tokens), 0)::bigint',
  output_tokens: 'coalesce(sum(output_tokens), 0)::bigint',
  cost_micros: 'coalesce(sum(cost_micros), 0)::bigint',
};

/** Figures that are kept by model and by project: turns by how they ended, and the cost of model calls. */
export const namedMeasures = ['completed', 'failed', 'cancelled', 'cost'] as const;
const namedMeasure = `case kind
  when 'completed' then 'completed' when 'step' then 'cost' when 'call' then 'cost'
  when 'failed' then case when category = 'cancelled' then 'cancelled' else 'failed' end
end`;

/** The key that a fact counts under in each map; null: it does not count. */
const maps = {
  failures: `case when kind = 'failed' then category end`,
  turn_ms: `case when kind in ('completed', 'failed') then ${binOf('ms')} end`,
  model_ms: `case when kind = 'step' then ${binOf('ms')} end`,
  answer_ms: `case when kind in ('answered', 'unanswered') then ${binOf('ms')} end`,
  first_token_ms: `case when first_token_ms is not null then ${binOf('first_token_ms')} end`,
  models: `${namedMeasure} || ' ' || model`,
  projects: `${namedMeasure} || ' ' || project_id`,
};

/** Amount that a fact adds under its key: 1, or the cost of a model call. */
const added = `case when kind in ('step', 'call') and map in ('models', 'projects') then cost_micros else 1 end`;

const slot = 'organization_id, seconds, at';
const columns = [slot, ...Object.keys(sums), ...Object.keys(maps)].join(', ');
const listOf = (entries: Record<string, string>, each: (name: string, value: string) => string) =>
  Object.entries(entries)
    .map(([name, value]) => each(name, value))
    .join(', ');

/** Returns a query that rolls facts up into rows of `operation_rollups`, for slots of all widths or of one. */
function rolledUp(facts: string, seconds?: string): string {
  const widths = rollupWidths.map((width) => `(${width.seconds}, interval '${width.kept}')`).join(', ');
  return `
    with facts as materialized (
      select organization_id, seconds, date_bin(seconds * interval '1 second', at, 'epoch'::timestamptz) as at, kind, category, ms,
             first_token_ms, input_tokens, cached_tokens, cache_write_tokens, output_tokens, cost_micros, model, project_id
      from ${facts} as fact, (values ${widths}) as widths (seconds, kept)
      where at > now() - kept ${seconds === undefined ? '' : `and seconds = ${seconds}`}
    ), summed as (
      select ${slot}, ${listOf(sums, (name, value) => `${value} as ${name}`)} from facts group by ${slot}
    ), counted as (
      select ${slot}, map, key, sum(${added})::bigint as count
      from facts, lateral (values ${listOf(maps, (name, value) => `('${name}', ${value})`)}) as entry (map, key)
      where key is not null group by ${slot}, map, key
    ), mapped as (
      select ${slot}, ${listOf(maps, (name) => `jsonb_object_agg(key, count) filter (where map = '${name}') as ${name}`)}
      from counted group by ${slot}
    )
    select ${slot}, ${Object.keys(sums).join(', ')}, ${listOf(maps, (name) => `coalesce(${name}, '{}') as ${name}`)}
    from summed left join mapped using (${slot})`;
}

/** Returns a statement that adds facts to the rollups. Organizations that were deleted have none. */
export const addRollups = (facts: string) => `
  insert into operation_rollups as rollups (${columns})
  select ${columns} from (${rolledUp(facts)}) as added
  where exists (select from organizations where id = organization_id) order by ${slot}
  on conflict (${slot}) do update set
    ${listOf(sums, (name) => `${name} = rollups.${name} + excluded.${name}`)},
    ${listOf(maps, (name) => `${name} = add_counts(rollups.${name}, excluded.${name})`)}`;

/** Returns a query for the rollups of organization `$1` from a time on, including facts that are not rolled up yet. */
export const rollupsSince = (from: string, seconds: string) => `
  select ${columns} from operation_rollups where organization_id = $1 and seconds = ${seconds} and at >= ${from}
  union all
  select ${columns} from (${rolledUp(
    `(select * from operation_facts where organization_id = $1 and at >= ${from})`,
    seconds,
  )}) as pending`;
