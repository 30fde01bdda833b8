import type { Pool, PoolClient } from 'pg';
import { countHeld } from '../../../db/migrations/0110-organization-totals.ts';

export interface RowsOwner {
  organizationId: string;
  projectId: string;
  siteId: string;
  webhookId: string;
}

/**
 * Inserts a year of data for an organization: jobs with five steps and ten events each, and as many conversations and deliveries.
 * Most jobs are archived; a few newer ones failed, have an open pull request or are active.
 */
export async function insertManyRows(pool: Pool, owner: RowsOwner, jobs: number): Promise<void> {
  await run(pool, async (client) => {
    await client.query(numbers, [owner.organizationId, owner.projectId, owner.siteId, owner.webhookId, jobs]);
    for (const statement of [...statements, countHeld]) await client.query(statement);
  });
}

/** Makes half of the jobs active, idle or waiting for a person, and gives most others an open pull request that is not due for a check. */
export async function makeBacklog(pool: Pool): Promise<void> {
  await run(pool, async (client) => {
    for (const statement of backlog) await client.query(statement);
  });
}

async function run(pool: Pool, work: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    // skips triggers and foreign keys: the rows are already consistent
    await client.query('set session_replication_role = replica; set statement_timeout = 0');
    await work(client);
  } finally {
    client.release(true);
  }
  await pool.query('vacuum analyze');
}

const backlog = [
  `update jobs set status = 'active', phase = 'running', ended_at = null, archived_at = null
   where id like 'job\\_many%' and substr(id, 9)::integer % 4 = 0`,
  `update jobs set status = 'active', phase = 'waiting', ended_at = null, archived_at = null, wait_until = now() + interval '1 day'
   where id like 'job\\_many%' and substr(id, 9)::integer % 4 = 1`,
  `update jobs set status = 'completed', archived_at = null, ended_at = updated_at - interval '1 year', pr_id = 'pr_many' || substr(id, 9),
                   pr_state = 'open', pr_checked_at = now() - interval '1 hour'
   where id like 'job\\_many%' and substr(id, 9)::integer % 4 >= 2 and substr(id, 9)::integer > 100`,
];

/** One row per job, conversation and delivery: the first is the newest, the last a year old (a delivery: a month). */
const numbers = `
  create temp table many as
  select number, $1::text as organization_id, $2::text as project_id, $3::text as site_id, $4::text as webhook_id,
         now() - (number::float8 / $5) * interval '365 days' as at, now() - (number::float8 / $5) * interval '29 days' as recent_at,
         case when number <= 50 then 'active' when number > $5 / 3 then 'archived' when number % 200 = 0 then 'failed'
              else 'completed' end as status
  from generate_series(1, $5::integer) as number`;

const statements = [
  `insert into jobs (id, project_id, organization_id, status, phase, repository, model, title, branch, head_tree, base_commit,
                     steps, failure_category, pr_id, pr_link, pr_state, created_at, updated_at, settled_at, ended_at, archived_at)
   select 'job_many' || number, project_id, organization_id, status, case status when 'active' then 'running' end, 'https://github.com/acme/docs',
          'offline/editor', 'Job number ' || number, 'docket/job_many' || number, 'tree-' || number, 'base', 5,
          case status when 'failed' then 'internal' end,
          case when status <> 'active' then 'pr_many' || number end, case when status <> 'active' then 'https://github.com/acme/docs/pull/1' end,
          case when status <> 'active' then case when number % 1000 = 0 then 'open' else 'merged' end end,
          at, at + interval '5 minutes', case when status <> 'active' then at + interval '5 minutes' end,
          case when status <> 'active' then at + interval '5 minutes' end,
          case when status = 'archived' then at + interval '30 days' end
   from many`,
  `insert into job_turns (job_id, turn, prompt, status, base_commit, created_at, ended_at)
   select id, 1, 'Mend what number ' || substr(id, 9) || ' says.', case status when 'archived' then 'completed' else status end, 'base', created_at, ended_at
   from jobs where id like 'job\\_many%' `,
  `insert into job_steps (job_id, turn, step, fence, response, finish_reason, input_tokens, output_tokens, cost_micros, tool_results,
                          tree, started_at, answered_at, ended_at)
   select 'job_many' || number, 1, step, 1, '{"text": "", "content": [], "toolCalls": []}', 'tool-calls', 1000, 50, 100, '[]',
          'tree-' || number, at, at + interval '5 seconds', at + interval '6 seconds'
   from many, generate_series(1, 5) as step`,
  `insert into job_event_logs (job_id, last_seq, ended_turn) select 'job_many' || number, 10, 1 from many`,
  `insert into job_events (job_id, seq, turn, step, type, data, created_at)
   select 'job_many' || number, seq, 1, 1, 'text', '{"text": "word"}', at from many, generate_series(1, 10) as seq`,
  `insert into job_snapshots (job_id, tree, commit, base_commit, pack, patch, changed_files, created_at)
   select 'job_many' || number, 'tree-' || number, 'c', 'base', 'pack', '+x', 1, at from many`,
  `insert into job_history_exports (job_id, turn, state, ended_at, next_attempt_at, exported_at)
   select 'job_many' || number, 1, 'exported', at, at, at from many where number > 50`,
  `insert into job_histories (job_id, turn, run, run_id, history, event_count)
   select 'job_many' || number, 1, 1, 'r', 'history', 10 from many where number > 50`,
  `insert into pull_requests (id, repository, number, head, base, title, body, organization_id, opened_by, opened_in, head_commit,
                              head_tree, link, state, check_due_at, created_at)
   select 'pr_many' || number, 'https://github.com/acme/docs', 1000000 + number, 'docket/job_many' || number, 'main', 'x', '',
          organization_id, 'job_many' || number, 1, 'c', 'tree-' || number, 'x',
          case when number % 1000 = 0 then 'open' else 'merged' end, case when number % 2 = 0 then now() end, at
   from many`,
  `insert into threads (id, site_id, organization_id, fp, created_at, updated_at)
   select 'thr_many' || number, site_id, organization_id, 'reader-' || number % 1000, at, at from many`,
  `insert into thread_messages (thread_id, id, role, content, answered, ending, first_token_ms, duration_ms, created_at)
   select 'thr_many' || number, case part when 1 then 'q' else 'a' end, case part when 1 then 'user' else 'assistant' end,
          case part when 1 then 'How is number ' || number || ' painted?' else 'It is painted.' end,
          case part when 2 then number % 100 <> 0 end, case part when 2 then 'finished' end, 100, 1000, at
   from many, generate_series(1, 2) as part order by number desc, part`,
  `insert into message_feedback (thread_id, message_id, vote, created_at)
   select 'thr_many' || number, 'a', case when number % 1000 = 0 then 'down' else 'up' end, at from many where number % 5 = 0`,
  `insert into unanswered_messages (thread_id, message_id, site_id, position, created_at)
   select thread_id, answer.id, site_id, position, answer.created_at from thread_messages as answer join many on thread_id = 'thr_many' || number
   where role = 'assistant' and (not answered or number % 1000 = 0)`,
  `insert into webhook_messages (id, project_id, type, job_id, body, created_at)
   select 'msg_many' || number, project_id, 'job.completed', 'job_many' || number, '{}', recent_at from many`,
  `insert into webhook_deliveries (id, message_id, endpoint_id, status, tries, start_at, next_attempt_at, created_at, ended_at)
   select 'dlv_many' || number, 'msg_many' || number, webhook_id, 'delivered', 1, null, null, recent_at, now()
   from many`,
  `insert into webhook_attempts (delivery_id, round, attempt, status_code, duration_ms, started_at)
   select 'dlv_many' || number, 1, 1, 200, 10, now() from many`,
  `insert into organization_spending (organization_id, day, cost_micros)
   select organization_id, current_date - number, 1 from many where number < 36500`,
  `insert into audit_entries (id, organization_id, action, subject, created_at)
   select 'aud_many' || number, organization_id, 'job.create', 'job_many' || number, at from many`,
];
