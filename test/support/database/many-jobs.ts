import type { Pool } from 'pg';

/** Inserts ended jobs, one per minute into the past, as `Job number 1` (the newest) and so on. */
export async function insertEndedJobs(pool: Pool, projectId: string, count: number, ids = 'job_many'): Promise<void> {
  await pool.query(
    `with made as (
       insert into jobs (id, project_id, organization_id, status, repository, model, title, created_at, updated_at, ended_at)
       select $3 || number, project.id, project.organization_id, 'completed', project.repository, 'offline/editor',
              'Job number ' || number, now() - number * interval '1 minute', now() - number * interval '1 minute', now()
       from projects as project, generate_series(1, $2::integer) as number where project.id = $1
       returning id, created_at
     )
     insert into job_turns (job_id, turn, prompt, status, created_at) select id, 1, 'Do it.', 'completed', created_at from made`,
    [projectId, count, ids],
  );
}

/** Inserts an active job that no worker runs; the test inserts its steps. Returns its id. */
export async function insertActiveJob(pool: Pool, projectId: string, id: string): Promise<string> {
  await pool.query(
    `with made as (
       insert into jobs (id, project_id, organization_id, status, phase, repository, model, title)
       select $2, id, organization_id, 'active', 'running', repository, 'offline/editor', 'A long job' from projects where id = $1
       returning id
     )
     insert into job_turns (job_id, turn, prompt) select id, 1, 'Do very much.' from made`,
    [projectId, id],
  );
  return id;
}

/** Inserts the steps `from` to `to` of a job, each with text and two tool calls, and their events. */
export async function insertSteps(
  pool: Pool,
  jobId: string,
  { from, to }: { from: number; to: number },
): Promise<void> {
  await pool.query(
    `insert into job_steps (job_id, turn, step, fence, response, finish_reason, input_tokens, output_tokens, cost_micros,
                            tool_results, tree, started_at, answered_at, ended_at)
     select $1, 1, number, 1,
            jsonb_build_object('text', 'Words of step **' || number || '**, and what it is about to do: \`look\` first.', 'content', '[]'::jsonb,
              'toolCalls', jsonb_build_array(
                jsonb_build_object('toolCallId', 'a' || number, 'toolName', 'read', 'input', jsonb_build_object('path', 'src/file-' || number || '.ts')),
                jsonb_build_object('toolCallId', 'b' || number, 'toolName', 'grep', 'input', jsonb_build_object('pattern', 'word ' || number)))),
            'tool-calls', 1000, 50, 100,
            jsonb_build_array(
              jsonb_build_object('toolCallId', 'a' || number, 'toolName', 'read', 'output', repeat('some line of a file' || chr(10), 100), 'isError', false),
              jsonb_build_object('toolCallId', 'b' || number, 'toolName', 'grep', 'output', 'nothing', 'isError', number % 7 = 0)),
            'tree', now(), now(), now()
     from generate_series($2::integer, $3::integer) as number`,
    [jobId, from, to],
  );
  await pool.query(
    `select append_job_events($1, 1, number, jsonb_build_array(
       jsonb_build_object('type', 'step-start', 'data', jsonb_build_object('attempt', 1)),
       jsonb_build_object('type', 'text', 'data', jsonb_build_object('attempt', 1, 'offset', 0, 'text', 'Words of step ' || number)),
       jsonb_build_object('type', 'usage', 'data', jsonb_build_object('inputTokens', 1000, 'outputTokens', 50, 'costUsd', 0.0001, 'finishReason', 'tool-calls'))))
     from generate_series($2::integer, $3::integer) as number`,
    [jobId, from, to],
  );
  await pool.query('update jobs set steps = $2, updated_at = now() where id = $1', [jobId, to]);
}
