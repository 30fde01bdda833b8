import type pg from 'pg';

const titles = [
  'Describe how a lamp is reset',
  'Correct the port in the installation guide',
  'Add an example for sunset schedules',
  'Explain what brightness 0 means',
  'Remove the section on the old remote control',
  'List the error codes of the HTTP API',
  'Link the guides from the start page',
  'Say which firewall ports must be open',
  'Rename "try" to "attempt" in the settings',
  'Add alternative text to the pictures',
];

const failures = ['model_refused', 'step_limit', 'push_rejected', 'tool_failure'];

/** Inserts the jobs and figures of the two weeks before the sample jobs, so that lists and plots look as in daily use. */
export async function insertPast(pool: pg.Pool, projectId: string, model: string): Promise<void> {
  const hours = 14 * 24;
  await pool.query(
    `with number as (
       select number, now() - make_interval(hours => 3 + number * 5, mins => number * 7 % 60) as at,
              make_interval(secs => 41 + number * 37 % 400) as took
       from generate_series(0, 60) as number
     ), made as (
       insert into jobs (id, project_id, organization_id, status, failure_category, repository, model, title, steps, input_tokens,
                         output_tokens, cost_micros, created_at, updated_at, ended_at)
       select 'job_past' || lpad(number::text, 3, '0'), project.id, project.organization_id,
              case when number % 9 = 4 then 'failed' else 'completed' end,
              case when number % 9 = 4 then ($4::text[])[1 + number % 4] end, project.repository, $2,
              ($3::text[])[1 + number % 10], 4 + number % 11, 40000 + number * 900, 2100 + number * 31, 24000 + number * 1700,
              at, at + took, at + took
       from projects as project, number where project.id = $1
       returning id, status, created_at, ended_at, title
     )
     insert into job_turns (job_id, turn, prompt, status, created_at, ended_at)
     select id, 1, title || '.', status, created_at, ended_at from made`,
    [projectId, model, titles, failures],
  );
  await pool.query(
    `insert into operation_facts (organization_id, at, kind, category, ms, first_token_ms, input_tokens, output_tokens, cost_micros,
       model, project_id)
     select organization_id, now() - make_interval(mins => number * 13), kind,
            case when kind = 'failed' then ($3::text[])[1 + number % 4] end,
            case kind when 'step' then 2100 + number * 97 % 5000 when 'answered' then 900 + number * 53 % 1800 else 41000 + number * 3700 % 400000 end,
            case when kind = 'answered' then 210 + number * 17 % 400 end,
            case when kind = 'step' then 18000 end, case when kind = 'step' then 600 end, case when kind = 'step' then 9000 + number % 7 * 2100 end,
            case when number % 3 = 0 then 'anthropic/claude-sonnet-4-5' else $4 end, projects.id
     from projects, generate_series(1, $2::integer) as number,
          lateral (values ('created', 5), ('completed', 6), ('step', 1), ('answered', 2), ('unanswered', 11), ('failed', 47)) as kinds (kind, every)
     where projects.id = $1 and number % every = 0 and (number * 7 % 24) > 3`,
    [projectId, Math.floor((hours * 60) / 13), failures, model],
  );
  await pool.query(
    `insert into project_spending (project_id, day, cost_micros)
     select $1, (now() at time zone 'utc')::date - number, 310000 + number * 170000 % 900000 from generate_series(1, 13) as number
     on conflict (project_id, day) do nothing`,
    [projectId],
  );
  await pool.query('update projects set daily_budget_micros = 5000000 where id = $1', [projectId]);
}
