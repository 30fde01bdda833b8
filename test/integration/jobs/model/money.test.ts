import { beforeEach, describe, expect, it } from 'vitest';
import { createAnswerSpendingStore } from '../../../../db/sites/answer-spending.ts';
import { buildSite, changeProject } from '../../../support/database/build.ts';
import { createPriceBook } from '../../../../models/prices.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { untilEarlyIn } from '../../../support/early-in.ts';
import type { RecordedRequest } from '../../../support/servers/scripted-model-server.ts';
import type { TestWorkerOptions } from '../../../support/stack/worker.ts';
import { ofFile } from '../../../support/of-file.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);
beforeEach(() => untilEarlyIn('day'));

/** A call costs 1,200 millionths of a dollar. */
const prices = createPriceBook({ 'compatible/scripted': { input: 10, output: 10 } });
const callMicros = 1_200;

async function startStack(change?: TestWorkerOptions['change']) {
  const stack = await startJobStack({ database, change: (deps) => ({ prices, ...change?.(deps) }) });
  let writes = 0;
  stack.model.respondWith(() => {
    writes += 1;
    return { toolCalls: [{ name: 'write', input: { path: `${writes}.txt`, content: `${writes}\n` } }] };
  });
  return stack;
}

async function projectOf(jobId: string): Promise<string> {
  const { rows } = await database.pool.query('select project_id as id from jobs where id = $1', [jobId]);
  return rows[0].id;
}

describe('a limit on money', () => {
  it('of a job is exceeded by at most one call, and its work is kept', { tags: 'slow' }, async () => {
    await using stack = await startStack(() => ({
      budgetCeilings: { jobMicros: 3_000, dayMicros: null, organizationMicros: null },
    }));
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({
      status: 'failed',
      failureCategory: 'budget_limit',
      steps: 3,
      costMicros: 3 * callMicros,
    });
    expect(job.message).toMatch(
      /budget of \$0\.003000 \(the project's budget per turn, or DOCKET_MAX_JOB_DOLLARS\); it used \$0\.003600\./,
    );
    expect(job.prLink).not.toBe(null);
  });

  it('of the project applies below the setting, which it never raises, and a message gets the whole of it again', async () => {
    const ceilings = { jobMicros: 3_000, dayMicros: null, organizationMicros: null };
    await using stack = await startStack(() => ({ budgetCeilings: ceilings }));
    const id = await stack.worker.createJob(stack.job);
    await changeProject(database.pool, await projectOf(id), { jobBudgetMicros: 2_000 });
    await stack.worker.startJob(id);
    expect(await stack.worker.ended(id)).toMatchObject({ failureCategory: 'budget_limit', steps: 2 });
    await changeProject(database.pool, await projectOf(id), { jobBudgetMicros: 999_999_999_000_000 });
    expect(await stack.worker.followUp(id, 'Go on')).toMatchObject({ failureCategory: 'budget_limit', steps: 5 });
  });

  it('refuses a model without a known price, before it is called', async () => {
    await using stack = await startStack(() => ({
      prices: createPriceBook(),
      budgetCeilings: { jobMicros: 1e6, dayMicros: null, organizationMicros: null },
    }));
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'budget_limit', steps: 0 });
    expect(job.message).toContain('its price is unknown. Add it to DOCKET_MODEL_PRICES');
    expect(stack.model.requests).toHaveLength(0);
  });

  it(
    'per project and day applies to jobs that run at the same time: at most one call too many',
    { tags: 'slow' },
    async () => {
      await using stack = await startStack();
      const budget = 10_000;
      const ids = [await stack.worker.createJob(stack.job)];
      const project = await projectOf(ids[0]!);
      await changeProject(database.pool, project, { dailyBudgetMicros: budget });
      for (let more = 0; more < 5; more += 1) ids.push(await stack.worker.createJob(stack.job));
      await database.pool.query('update jobs set project_id = $1 where id = any($2)', [project, ids]);
      await Promise.all(ids.map((id) => stack.worker.startJob(id)));
      const jobs = await Promise.all(ids.map((id) => stack.worker.ended(id)));
      expect(jobs.map(({ failureCategory }) => failureCategory)).toEqual(ids.map(() => 'budget_limit'));
      expect(jobs[0]!.message).toMatch(/today .* after 00:00 UTC/);
      const { rows } = await database.pool.query(
        'select cost_micros::int as spent from project_spending where project_id = $1',
        [project],
      );
      expect(rows).toEqual([{ spent: Math.ceil(budget / callMicros) * callMicros }]);
      expect(jobs.reduce((sum, { costMicros }) => sum + costMicros!, 0)).toBe(rows[0].spent);
    },
  );

  it(
    'per organization and day counts the jobs of all its projects and the answers of its assistant',
    { tags: 'slow' },
    async () => {
      const budget = 10_000;
      const ceilings = { jobMicros: null, dayMicros: null, organizationMicros: budget };
      await using stack = await startStack(() => ({ budgetCeilings: ceilings }));
      const ids = await Promise.all(Array.from({ length: 4 }, () => stack.worker.createJob(stack.job)));
      const { rows } = await database.pool.query('select organization_id as id from jobs where id = $1', [ids[0]]);
      const organizationId: string = rows[0].id;
      const moved = 'set organization_id = $1 where id in (select project_id from jobs where id = any($2))';
      await database.pool.query(`update projects ${moved}`, [organizationId, ids]);
      await database.pool.query('update jobs set organization_id = $1 where id = any($2)', [organizationId, ids]);
      const answers = createAnswerSpendingStore(database.pool);
      const site = await buildSite(database.pool, { organizationId });
      const answer = { maxMicros: 9_000, lostMicros: 0, siteMicros: null, organizationMicros: budget };
      const reserved = await answers.reserve(site, answer);
      if ('spent' in reserved) throw new Error('The answer was refused.');
      await answers.settle(site, reserved, 4_000);

      await Promise.all(ids.map((id) => stack.worker.startJob(id)));
      const jobs = await Promise.all(ids.map((id) => stack.worker.ended(id)));
      expect(jobs.map(({ failureCategory }) => failureCategory)).toEqual(ids.map(() => 'budget_limit'));
      expect(jobs[0]!.message).toContain('DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY');
      const calls = Math.ceil((budget - 4_000) / callMicros);
      expect(jobs.reduce((sum, { costMicros }) => sum + costMicros!, 0)).toBe(calls * callMicros);
      expect(await answers.reserve(site, answer)).toMatchObject({ spent: 'organization' });
    },
  );
});

describe('an interrupted call', () => {
  const words = 'lorem ipsum '.repeat(500);

  it('costs what was sent and received; a refused one costs nothing', async () => {
    await using stack = await startStack();
    stack.model.script({ text: [words, words, words, words], cut: 3 }, { status: 500 }, { text: 'Nothing to do.' });
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'completed', steps: 1 });
    const lost = job.costMicros! - callMicros;
    const { rows } = await database.pool.query(
      `select asked_micros::int as asked, lost_micros::int as lost,
              (select cost_micros::int from project_spending where project_id = $2) as day
       from job_steps where job_id = $1`,
      [job.id, await projectOf(job.id)],
    );
    expect(rows).toEqual([{ asked: 0, lost, day: job.costMicros }]);
    // ten millionths per token, both ways
    const sent = (lengthOfRequest(stack.model.requests[0]!) / 3.5) * 10;
    const come = ((2 * words.length) / 3.5) * 10;
    expect(lost).toBeGreaterThan(sent + come);
    expect(lost).toBeLessThan((sent + come) * 1.2);
  });

  it('counts against the limit of its job', async () => {
    await using stack = await startStack(() => ({
      budgetCeilings: { jobMicros: 2_000, dayMicros: null, organizationMicros: null },
    }));
    stack.model.script({ text: words, cut: 2 });
    expect(await stack.worker.runJob(stack.job)).toMatchObject({ failureCategory: 'budget_limit', steps: 0 });
    expect(stack.model.requests).toHaveLength(1);
  });
});

it('waits for a busy budget, which does not count as time of the model', { tags: 'slow' }, async () => {
  let begun = 0;
  await using stack = await startStack(({ leases }) => ({
    budgetCeilings: { jobMicros: null, dayMicros: 1e12, organizationMicros: null },
    timing: { modelTimeoutMs: 2_000 },
    leases: {
      ...leases,
      begin: async (call) => ((begun += 1) <= 5 ? { kind: 'busy' } : leases.begin(call)),
    },
  }));
  stack.model.script({ text: 'Nothing to do.' });
  expect(await stack.worker.runJob(stack.job)).toMatchObject({ status: 'completed', steps: 1 });
  expect(begun).toBe(6);
});

it('reserves the cost of tool definitions, too', async () => {
  await using stack = await startStack(() => ({
    budgetCeilings: { jobMicros: null, dayMicros: 1e12, organizationMicros: null },
  }));
  stack.model.script({ text: 'Nothing to do.', stall: true });
  const id = await stack.worker.createJob(stack.job);
  await stack.worker.startJob(id);
  const request = await stack.model.nextRequest();
  const { rows } = await database.pool.query(
    'select cost_micros::int as reserved from cost_reservations where job_id = $1',
    [id],
  );
  const most = 128_000 + Math.ceil(lengthOfRequest(request) / 2);
  expect(rows[0].reserved).toBeGreaterThanOrEqual(most * 10);
  request.release();
  expect(await stack.worker.ended(id)).toMatchObject({ status: 'completed' });
});

/** The content of a request that the model reads, without the JSON around it. */
function lengthOfRequest({ body }: RecordedRequest): number {
  const tools = body.tools as unknown as { function: { name: string; description: string; parameters: object } }[];
  const said = body.messages.map(({ content }) => String(content).length);
  const defined = tools.map(
    ({ function: { name, description, parameters } }) =>
      name.length + description.length + JSON.stringify({ ...parameters, $schema: undefined }).length,
  );
  expect(defined.length).toBeGreaterThan(5);
  return [...said, ...defined].reduce((sum, length) => sum + length, 0);
}
