/** Columns of a `JobRow`; token counts fit a double exactly. */
export const jobColumns = `
  id, project_id as "projectId", organization_id as "organizationId", status, phase, turn, repository,
  requested_ref as "requestedRef", base_branch as "baseBranch", base_commit as "baseCommit", merged_from as "mergedFrom", model,
  coalesce(fallback_models, '{}') as "fallbackModels", reasoning_effort as "reasoningEffort",
  max_output_tokens as "maxOutputTokens", draft, title, message,
  branch, head_tree as "headTree", head_commit as "headCommit", pr_id as "prId", pull_request_of(id, pr_id) as "pullRequestId",
  -- only the local forge has ids other than the number
  case when pr_id ~ '^[0-9]{1,9}$' then pr_id::integer
       else (select local.number from pull_requests as local where local.id = pr_id) end as "pullRequestNumber",
  pr_link as "prLink",
  pr_state as "prState", pr_draft as "prDraft", incomplete, check_result as "check", waiting_messages as "waitingMessages", steps,
  input_tokens::float8 as "inputTokens", cached_tokens::float8 as "cachedTokens",
  cache_write_tokens::float8 as "cacheWriteTokens", output_tokens::float8 as "outputTokens",
  case when is_cost_known then cost_micros::float8 end as "costMicros", failure_category as "failureCategory",
  plan_review as "planReview", may_ask as "mayAsk", approved_turn as "approvedTurn", plan, question,
  wait_since as "waitSince", wait_until as "waitUntil",
  case when phase = 'waiting' then starter_of(organization_id, id, created_at) end as "waitsFor",
  case when forked_from is not null
       then jsonb_build_object('jobId', forked_from, 'turn', forked_turn, 'step', forked_step) end as "forkedFrom",
  created_at as "createdAt", updated_at as "updatedAt", ended_at as "endedAt", archived_at as "archivedAt"`;

/** Condition: a job belongs to an organization, for tables that have only the job's id. */
export const isJobOf = (job: string, organization: string) =>
  `exists (select from jobs where jobs.id = ${job} and jobs.organization_id = ${organization})`;

/** Condition: turn `$2` of job `$1` has no step after one. Holds for null. */
export const noStepAfter = (step: string) =>
  `not exists (select from job_steps as later where later.job_id = $1 and later.turn = $2 and later.step > ${step})`;

/** Condition: turn `$2` of job `$1` is active. */
export const ofActiveTurn = `exists (select from jobs where jobs.id = $1 and jobs.turn = $2 and jobs.status = 'active')`;

/** Changes the result of the question that a step put, unless its turn is over. `$4` are the new fields. */
export const changeQuestion = `
  update job_steps
  set tool_results = (
    select jsonb_agg(
      case when result @> '{"toolName": "ask", "isError": false}' then result || $4::jsonb else result end
      order by position)
    from jsonb_array_elements(tool_results) with ordinality as results (result, position))
  where job_id = $1 and turn = $2 and step = $3 and tool_results @> '[{"toolName": "ask", "isError": false}]'
    and exists (select from jobs where id = $1 and jobs.turn = $2 and status = 'active'
                and phase is distinct from 'waiting')`;

/** Jobs by organization, project and id, as three lists of the same length. */
const fromListed = `
    from unnest($1::text[], $2::text[], $3::text[]) as asked (organization_id, project_id, id)
    join jobs using (organization_id, project_id, id)`;

/** The version of a row: the transaction that wrote it. */
const rowVersion = 'jobs.xmin::text as version';

export const findJobs = { name: 'find-jobs', text: `select ${jobColumns}, ${rowVersion} ${fromListed}` };

/**
 * Selects the positions of the jobs whose version is not the given one, or that are gone. Organizations, ids and versions
 * are three lists of the same length, separated by spaces.
 */
export const findChangedJobs = {
  name: 'find-changed-jobs',
  text: `
    select position::integer as position
    from unnest(string_to_array($1::text, ' '), string_to_array($2::text, ' '), string_to_array($3::text, ' '))
      with ordinality as kept (organization_id, id, version, position)
    left join jobs using (organization_id, id)
    where jobs.xmin is distinct from kept.version::xid`,
};

/**
 * Inserts the job, its first turn and its outbox row; nothing when another job has the idempotency key, or without the
 * project.
 */
export const insertJob = {
  name: 'insert-job',
  text: `
    with job as (
      insert into jobs (id, project_id, organization_id, status, phase, repository, requested_ref, model, draft,
                        idempotency_key, request_hash, plan_review, may_ask,
                        fallback_models, reasoning_effort, max_output_tokens)
      select $1, id, organization_id, 'active', 'queued', $4, $5, $6, $7, $8, $9, $11, $12, $13, $14, $15
      from projects where id = $2 and organization_id = $3
      on conflict (project_id, idempotency_key) do nothing
      returning *
    ), first_turn as (
      insert into job_turns (job_id, turn, prompt, images) select id, turn, $10, $16 from job
    ), start as (
      insert into job_outbox (job_id, turn) select id, turn from job
    )
    select ${jobColumns}
    from job, append_job_events(job.id, job.turn, null, '[{"type": "phase", "data": {"phase": "queued"}}]')`,
};

export const jobOrders = ['newest', 'oldest'] as const;
export type JobOrder = (typeof jobOrders)[number];

/** Returns the order of a list by when its jobs were created. */
export function orderBy(order: JobOrder): string {
  return order === 'newest' ? 'created_at desc, id desc' : 'created_at, id';
}

/**
 * Returns a query for the newest (or oldest) jobs of an organization ($1), filtered by statuses ($2, null for any) and
 * project ($3, null for any), after a cursor ($4 in microseconds, $5), and by further conditions that an index can
 * evaluate. Each status is a separate index scan, so a rare one is as fast as a common one.
 */
export function newestJobs(limit: number, order: JobOrder = 'newest', further = 'true'): string {
  const ofStatus = (status: string) => `
    select * from jobs
    where organization_id = $1 and ${status} and ($3::text is null or project_id = $3) and ${further}
      and ($4::bigint is null or (created_at, id) ${order === 'newest' ? '<' : '>'}
        ('epoch'::timestamptz + $4::bigint * interval '1 microsecond', $5::text))
    order by ${orderBy(order)} limit ${limit}`;
  return `
    select jobs.* from unnest($2::text[]) as wanted (status), lateral (${ofStatus('status = wanted.status')}) as jobs
    union all (${ofStatus('$2::text[] is null')})
    order by ${orderBy(order)} limit ${limit}`;
}

export const turnUsage = `
  select coalesce(sum(steps), 0)::integer as steps,
         coalesce(sum(input_tokens), 0)::float8 as "inputTokens",
         coalesce(sum(output_tokens), 0)::float8 as "outputTokens",
         case when bool_or(cost_micros is null) then null else coalesce(sum(cost_micros), 0)::float8 end as "costMicros"
  from (
    select (response is not null)::integer as steps, input_tokens, output_tokens,
           case when response is null then lost_micros else cost_micros + lost_micros end as cost_micros
    from job_steps where job_id = $1 and turn = $2
      -- what a fork took over is not of its own
      and not exists (select from jobs where id = $1 and forked_turn = $2 and forked_step >= job_steps.step)
    union all
    select 0, input_tokens, output_tokens, cost_micros from job_compactions where job_id = $1 and turn = $2
  ) as calls`;

/** Columns of a step as the worker reads it, a `StepRow`. */
export const stepColumns = `
  job_id as "jobId", turn, step, fence::float8 as fence, response, finish_reason as "finishReason",
  jsonb_build_object('inputTokens', input_tokens, 'outputTokens', output_tokens) as usage,
  cached_tokens::float8 as "cachedTokens", cost_micros::float8 as "costMicros", tool_results as "toolResults", tree,
  model_failures as "modelFailures", model, tools_hash as "toolsHash"`;

/** Selects the prompt of each turn, then the messages sent during it. */
export const listPrompts = {
  name: 'list-prompts',
  text: `
    select turn, step, prompt, images from (
      select turn, 0 as position, 0 as step, prompt, images from job_turns where job_id = $1 and turn <= $2
      union all
      select turn, position, step, prompt, images from job_messages where job_id = $1 and turn <= $2
    ) as prompts
    order by turn, position`,
};

/**
 * Selects the tree after the newest batch of tools of the steps, or the one that the working copy was set to since.
 * Without a snapshot of it, nothing differs from the base commit.
 */
export const newestTreeOf = (steps: string) => `
  select tree from (
    (select turn, step, 0 as later, tree from job_steps where job_id = $1 and ${steps}
     order by turn desc, step desc limit 1)
    union all
    (select turn, tree_step, 1, tree from job_turns where job_id = $1 and tree is not null order by turn desc limit 1)
  ) as trees order by turn desc, step desc, later desc limit 1`;
export const newestTree = newestTreeOf('tree is not null');
/** Selects the tree after step `$3` of turn `$2`; a tree that the working copy was set to later belongs to a later time. */
export const treeAt = `
  select tree from (
    select turn, step, 0 as later, tree from job_steps where job_id = $1 and tree is not null
    union all
    select turn, tree_step, 1, tree from job_turns where job_id = $1 and tree is not null
    union all
    select turn, 0, 1, first_tree from job_turns where job_id = $1 and first_tree is not null
  ) as trees
  where (turn, step, later) <= ($2, $3, 0)
  order by turn desc, step desc, later desc limit 1`;
/**
 * The job `$1` and the jobs it was forked from, directly or not, nearest first by `distance`: a fork has no snapshots of the
 * trees before the one that it began with. `forked_from` is null where the other job was deleted.
 */
export const withLineage = `
  with recursive lineage as (
    select id, forked_from, forked_turn, forked_step, 0 as distance from jobs where id = $1
    union all
    select jobs.id, jobs.forked_from, jobs.forked_turn, jobs.forked_step, distance + 1
    from lineage join jobs on jobs.id = lineage.forked_from
  )`;
/** Condition: the change of the snapshot `kept` was merged by `turn` of `job`, which has another base commit since. */
export const isMergedBy = ({ job, turn }: { job: string; turn: string }) => `
  exists (
    select from job_turns as earlier join job_turns as later using (job_id)
    where job_id = ${job} and earlier.base_commit = kept.base_commit and later.turn > earlier.turn
      and later.turn <= ${turn} and later.base_commit <> kept.base_commit)`;
// a tree that is stored for an earlier base commit is now in the base: the job's change was merged
export const ofBase = 'job_id = $1 and base_commit = (select base_commit from jobs where id = $1)';
