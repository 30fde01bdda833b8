import type { Pool } from 'pg';
import { checkExecutions, type TemporalNamespace } from './check-executions.ts';
import { checkJob } from './check-job.ts';
import { checkCalls, checkExchanges, type StoredAnswer } from './check-traffic.ts';
import { publishedBy } from '../plans/job-plans.ts';
import type { JobRun } from '../job-run.ts';
import type { Scene } from '../scene.ts';

/** Compares the stores, the repositories and the traffic of a run with the plan. Returns what is wrong. */
export async function checkEnd(run: JobRun, scene: Scene, temporal: TemporalNamespace): Promise<string[]> {
  const { client, faults } = run;
  return [...checkExchanges(client.exchanges, faults), ...(await checkStores(run, scene, temporal))];
}

/** The same without the response times of the API, for faults that affect the API itself. */
export async function checkStores(run: JobRun, scene: Scene, temporal: TemporalNamespace): Promise<string[]> {
  const { plans, client } = run;
  const found = [...client.violations];
  const stored: StoredAnswer[] = [];
  for (const plan of plans) {
    const id = client.jobs.get(plan.index)?.id;
    if (id === undefined) {
      found.push(`job ${plan.index} was never accepted`);
      continue;
    }
    const place = scene.repositories[plan.repository]!;
    const checked = await checkJob(scene.pool, place, plan, id);
    found.push(...checked.violations);
    stored.push(...checked.stored);
  }
  const executions = plans.flatMap(({ index, turns }) => {
    const job = client.jobs.get(index);
    if (job === undefined) return [];
    return turns.map((_, turn) => ({ id: job.id, turn: turn + 1, hasFailed: job.status === 'failed' }));
  });
  found.push(...checkCalls(run, stored), ...(await checkExecutions(temporal, executions)));
  return [...found, ...(await countProblems(scene, run))];
}

/** Checks that nothing is duplicated, and that nothing exists that no job created. */
async function countProblems({ pool, repositories }: Scene, { plans }: JobRun): Promise<string[]> {
  const published = plans.filter((plan) => publishedBy(plan) !== null).length;
  const wanted = { jobs: plans.length, outbox: 0 };
  const counted = await countRows(
    pool,
    repositories.map(({ projectId }) => projectId),
  );
  const found = Object.entries(wanted).flatMap(([name, count]) =>
    counted[name] === count ? [] : [`there are ${counted[name]} rows of ${name} and not ${count}`],
  );
  let [branches, requests] = [0, 0];
  for (const { repository, baseCommit, pullRequests } of repositories) {
    requests += (await pullRequests()).length;
    branches += (await repository.git('for-each-ref', 'refs/heads/docket')).split('\n').filter(Boolean).length;
    const main = await repository.git('rev-parse', 'refs/heads/main');
    if (main !== baseCommit) found.push(`the main branch of ${repository.path} was moved to ${main}`);
  }
  if (requests !== published) found.push(`there are ${requests} pull requests and not ${published}`);
  if (branches !== published) found.push(`there are ${branches} branches and not ${published}`);
  return found;
}

async function countRows(pool: Pool, projectIds: string[]): Promise<Record<string, number>> {
  const { rows } = await pool.query<Record<string, number>>(
    `select (select count(*)::integer from jobs where project_id = any($1)) as jobs,
            (select count(*)::integer from job_outbox) as outbox`,
    [projectIds],
  );
  return rows[0]!;
}
