import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import type { ToolResult } from '../../../../db/for-worker/steps.ts';
import type { TestRepository } from '../../../support/git-repository.ts';
import type { StoredAnswer } from './check-traffic.ts';
import type { SceneRepository } from '../scene.ts';
import { commitsOf, publishedBy, type JobPlan } from '../plans/job-plans.ts';

/** The result of a call that may not be repeated, after a kill: see activities/mcp/call-tools.ts. */
const lostCall = 'This call was sent, but its result was lost';

export interface CheckedJob {
  violations: string[];
  /** The steps whose answers are stored. */
  stored: StoredAnswer[];
}

interface JobRow {
  id: string;
  status: string;
  phase: string | null;
  steps: number;
  inputTokens: number;
  category: string | null;
  branch: string | null;
  baseCommit: string | null;
  headCommit: string | null;
  prLink: string | null;
  turnStatus: string;
}

interface StepRow {
  step: number;
  toolCalls: string[] | null;
  toolResults: ToolResult[] | null;
  answeredMs: number | null;
}

/** Compares a job in the database and in the repository with its plan. */
export async function checkJob(pool: Pool, place: SceneRepository, plan: JobPlan, id: string): Promise<CheckedJob> {
  const { repository } = place;
  const job = await readJob(pool, id);
  if (job === null) return { violations: [`job ${plan.index} (${id}) was acknowledged and is lost`], stored: [] };
  const steps = await readSteps(pool, id);
  const found = [...endProblems(job, plan), ...stepProblems(job, steps, plan)];
  const requests = (await place.pullRequests()).filter(
    ({ head, body }) => head.startsWith(`docket/${id}-`) || body.includes(`docket-job: ${id} `),
  );
  const branches = await branchesOf(repository, id);
  const files = publishedBy(plan);
  if (files === null) {
    if (branches.length + requests.length > 0)
      found.push(`has ${branches.length} branches and ${requests.length} pull requests`);
  } else {
    if (branches.length !== 1 || branches[0] !== job.branch) found.push(`has the branches ${branches.join(', ')}`);
    if (requests.length !== 1 || requests[0]!.head !== job.branch) found.push(`has ${requests.length} pull requests`);
    if (!job.prLink?.endsWith(requests[0]?.link ?? 'none')) found.push(`links to ${job.prLink}`);
    found.push(...(await treeProblems(repository, job, { files, commits: commitsOf(plan) })));
  }
  return {
    violations: found.map((problem) => `job ${plan.index} (${id}) ${problem}`),
    stored: steps.flatMap(({ answeredMs }, index) =>
      answeredMs === null ? [] : [{ job: plan.index, step: index + 1, atMs: answeredMs }],
    ),
  };
}

async function readJob(pool: Pool, id: string): Promise<JobRow | null> {
  const { rows } = await pool.query<JobRow>(
    `select id, jobs.status, phase, jobs.steps, jobs.input_tokens::float8 as "inputTokens",
            jobs.failure_category as category, jobs.branch, jobs.base_commit as "baseCommit",
            jobs.head_commit as "headCommit", jobs.pr_link as "prLink", job_turns.status as "turnStatus"
     from jobs join job_turns on job_turns.job_id = jobs.id and job_turns.turn = jobs.turn where id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

async function readSteps(pool: Pool, id: string): Promise<StepRow[]> {
  const { rows } = await pool.query<StepRow>(
    `select step, jsonb_path_query_array(response, '$.toolCalls[*].toolCallId') as "toolCalls",
            tool_results as "toolResults", extract(epoch from answered_at)::float8 * 1000 as "answeredMs"
     from job_steps where job_id = $1 order by turn, step`,
    [id],
  );
  return rows;
}

function endProblems({ status, phase, category, turnStatus }: JobRow, { ending }: JobPlan): string[] {
  const wanted = ending.kind === 'failed' ? `failed, ${ending.category}` : 'completed, null';
  const is = `${status}, ${category}`;
  return [
    ...(is === wanted ? [] : [`is ${is} and not ${wanted}`]),
    ...(turnStatus === status ? [] : [`is ${status} and its turn ${turnStatus}`]),
    ...(phase === null ? [] : [`has ended and is in the phase ${phase}`]),
  ];
}

function stepProblems(job: JobRow, steps: StepRow[], plan: JobPlan): string[] {
  const problems: string[] = [];
  const answered = plan.steps.filter(({ trouble }) => trouble?.isFinal !== true).length;
  const numbers = steps.map(({ step }) => step).join(' ');
  const wanted = plan.turns.flatMap((count) => Array.from({ length: count }, (_, index) => index + 1)).join(' ');
  if (numbers !== wanted) problems.push(`has the steps ${numbers} and not ${wanted}`);
  if (job.steps !== answered) problems.push(`counts ${job.steps} steps and not ${answered}`);
  if (job.inputTokens !== 100 * answered) problems.push(`counts ${job.inputTokens} tokens`);
  for (const [index, { step, toolCalls, toolResults }] of steps.entries()) {
    const planned = plan.steps[index];
    if (planned === undefined || planned.trouble?.isFinal === true) continue;
    const ids = planned.calls.map(({ id }) => id).join(' ');
    const results = toolResults ?? [];
    if (toolCalls?.join(' ') !== ids) problems.push(`asks in step ${step} for ${toolCalls?.join(' ')}, not ${ids}`);
    if (results.map(({ toolCallId }) => toolCallId).join(' ') !== ids) problems.push(`lacks results of step ${step}`);
    for (const { toolCallId, isError, output } of results) {
      if (isError && !output.startsWith(lostCall)) problems.push(`has an error in ${toolCallId}: ${output}`);
      const read = planned.reads.find(({ id }) => id === toolCallId);
      if (read !== undefined && !output.includes(read.holds)) problems.push(`reads other text in ${toolCallId}`);
    }
  }
  return problems;
}

async function branchesOf(repository: TestRepository, id: string): Promise<string[]> {
  const text = await repository.git('for-each-ref', '--format=%(refname:lstrip=2)', `refs/heads/docket/${id}-*`);
  return text.split('\n').filter(Boolean);
}

async function treeProblems(
  repository: TestRepository,
  job: JobRow,
  { files, commits: wanted }: { files: Map<string, string>; commits: number },
): Promise<string[]> {
  const { branch, headCommit, baseCommit } = job;
  if (branch === null || headCommit === null || baseCommit === null) return ['has no branch'];
  const head = await repository.git('rev-parse', `refs/heads/${branch}`);
  const problems = head === headCommit ? [] : [`has the head ${headCommit}, its branch ${head}`];
  const commits = (await repository.git('rev-list', `${baseCommit}..${head}`)).split('\n');
  if (commits.length !== wanted) problems.push(`has ${commits.length} commits and not ${wanted}`);
  const listing = await repository.git('ls-tree', '-r', '-z', head);
  const entries = new Set(listing.split('\0').filter(Boolean));
  const planned = new Set([...files].map(([path, content]) => `100644 blob ${blobIdOf(content)}\t${path}`));
  for (const entry of planned.difference(entries)) problems.push(`lacks on its branch ${entry}`);
  for (const entry of entries.difference(planned)) problems.push(`has on its branch ${entry}, which is not planned`);
  return problems;
}

function blobIdOf(content: string): string {
  return createHash('sha1')
    .update(`blob ${Buffer.byteLength(content)}\0${content}`)
    .digest('hex');
}
