import type { Pool } from 'pg';
import { startMcpServer, textResult, type TestMcpServer } from '../../../support/servers/mcp-server.ts';
import type { JobRun } from '../job-run.ts';
import { plannedServer } from '../plans/special-plans.ts';

/** Starts the MCP server that special plans call. */
export function startPlannedServer(): Promise<TestMcpServer> {
  const { look, send, seen } = plannedServer;
  return startMcpServer([
    { name: look, annotations: { readOnlyHint: true }, call: () => textResult(seen) },
    { name: send, call: () => textResult('Sent.') },
  ]);
}

/**
 * Checks that no approval is lost or applied twice, no finished setup is repeated, and no call is sent twice. `isEachNew`:
 * what setups install is removed before each job.
 */
export async function checkSpecial(
  pool: Pool,
  { plans, client }: Pick<JobRun, 'plans' | 'client'>,
  { calls }: Pick<TestMcpServer, 'calls'>,
  { isEachNew = false }: { isEachNew?: boolean } = {},
): Promise<string[]> {
  const sent = Map.groupBy(
    calls.filter(({ name }) => name === plannedServer.send),
    ({ input }) => JSON.stringify(input),
  );
  const repeated = [...sent].filter(([, own]) => own.length > 1);
  return [
    ...(await decisionProblems(
      pool,
      plans.flatMap((plan) => {
        const id = client.jobs.get(plan.index)?.id;
        return id === undefined
          ? []
          : [{ id, turns: plan.turns.length, isApproved: plan.waits?.includes('approval') === true }];
      }),
    )),
    ...(await setupProblems(pool, isEachNew)),
    ...repeated.map(([input, own]) => `the call ${input} was sent ${own.length} times to the MCP server`),
  ];
}

interface PlannedDecision {
  id: string;
  turns: number;
  isApproved: boolean;
}

async function decisionProblems(pool: Pool, jobs: PlannedDecision[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string; turns: number; approvedTurn: number | null; approvals: number }>(
    `select id, approved_turn as "approvedTurn",
            (select count(*)::integer from job_turns where job_id = jobs.id) as turns,
            (select count(*)::integer from audit_entries where subject = jobs.id and action = 'job.approve') as approvals
     from jobs where id = any($1)`,
    [jobs.map(({ id }) => id)],
  );
  const found = new Map(rows.map((row) => [row.id, row]));
  return jobs.flatMap(({ id, turns, isApproved }) => {
    const row = found.get(id);
    if (row === undefined) return [];
    const [approvedTurn, approvals] = isApproved ? [2, 1] : [null, 0];
    return [
      ...(row.turns === turns ? [] : [`${id} has ${row.turns} turns and not ${turns}`]),
      ...(row.approvedTurn === approvedTurn
        ? []
        : [`${id} is approved in turn ${row.approvedTurn}, not ${approvedTurn}`]),
      ...(row.approvals === approvals ? [] : [`${id} was approved ${row.approvals} times, not ${approvals}`]),
    ];
  });
}

/** A setup that a job has reported as finished does not start again; with `isEachNew`, not for this job. */
async function setupProblems(pool: Pool, isEachNew: boolean): Promise<string[]> {
  const { rows } = await pool.query<{ place: string; text: string }>(
    `select case when $1 then jobs.id else jobs.project_id || ' ' || jobs.requested_ref end as place, data ->> 'text' as text
     from job_events join jobs on jobs.id = job_id
     where type = 'notice' and data ->> 'text' ~ '^The setup of .* (started|succeeded)'
     order by job_events.created_at, seq`,
    [isEachNew],
  );
  const places = Map.groupBy(rows, ({ place }) => place);
  return [...places].flatMap(([place, own]) => {
    const finished = own.findIndex(({ text }) => text.includes('succeeded'));
    const again = own.slice(finished + 1).filter(({ text }) => text.includes('started'));
    return finished < 0 || again.length === 0
      ? []
      : [`the setup of ${place} started ${again.length} times after it had finished`];
  });
}

/** Returns how often setups were started, and how many of them finished, for the report. */
export async function countSetups(pool: Pool): Promise<{ started: number; finished: number; skipped: number }> {
  const { rows } = await pool.query<{ started: number; finished: number; skipped: number }>(
    `select count(*) filter (where text like '% started%')::integer as started,
            count(*) filter (where text like '% succeeded in %')::integer as finished,
            count(*) filter (where text like '% is skipped: %')::integer as skipped
     from (select data ->> 'text' as text from job_events where type = 'notice') as notices
     where text like 'The setup of %'`,
  );
  return rows[0]!;
}
