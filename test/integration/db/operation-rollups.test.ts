import type { Pool } from 'pg';
import { expect, it } from 'vitest';
import { bucketSecondsOf } from '../../../api/administration/present-operations.ts';
import { createOperationRollups } from '../../../db/for-service/operation-rollups.ts';
import { operatorOf } from '../../../db/caller.ts';
import { newId } from '../../../db/ids.ts';
import { createJobContextStore } from '../../../db/for-worker/job-context.ts';
import { createModelCallLeases } from '../../../db/for-worker/model-call-leases.ts';
import { createJobForkStore } from '../../../db/jobs/job-forks.ts';
import { createOperationsStore, type MeasuredDurations } from '../../../db/operations/operations.ts';
import { binGrowth } from '../../../db/operations/rollups.ts';
import { buildOrganization, buildProject, buildSite } from '../../support/database/build.ts';
import { claimAnswer } from '../../support/database/claim-answer.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { seedJob } from './seed.ts';
import { fc, propertyRuns } from '../../support/properties.ts';

/** A job of one turn with steps, and an answer; times are seconds before now. */
const happening = fc.record({
  secondsAgo: fc.integer({ min: 1, max: 85 * 86_400 }).chain((most) => fc.integer({ min: 0, max: most })),
  tookMs: fc.integer({ min: 0, max: 86_400_000 }),
  ending: fc.constantFrom(null, 'completed', 'failed', 'cancelled'),
  steps: fc.integer({ min: 0, max: 3 }),
  answered: fc.constantFrom(null, true, false),
});
type Happening = typeof happening extends fc.Arbitrary<infer Value> ? Value : never;

async function happen(pool: Pool, organizationId: string, one: Happening): Promise<string> {
  const { secondsAgo, tookMs, ending, steps, answered } = one;
  const project = await buildProject(pool, { organizationId });
  const id = newId('job_');
  await pool.query(
    `insert into jobs (id, project_id, organization_id, status, repository, model) values ($1, $2, $3, 'active', $4, 'offline/editor')`,
    [id, project.id, organizationId, project.repository],
  );
  const times = `now() - ($2 + $3 / 1000.0) * interval '1 second', now() - $2 * interval '1 second'`;
  await pool.query(
    `insert into job_turns (job_id, turn, prompt, created_at)
     select $1, 1, 'Mend it', began from (values (${times})) as at (began, ended)`,
    [id, secondsAgo, tookMs],
  );
  for (let step = 1; step <= steps; step += 1) {
    await pool.query('insert into job_steps (job_id, turn, step) values ($1, 1, $2)', [id, step]);
    await pool.query(
      `update job_steps set response = '{"toolCalls": []}', started_at = began, answered_at = ended, cost_micros = $5,
         input_tokens = 7, cached_tokens = 2 * $4, cache_write_tokens = 1, output_tokens = $4
       from (values (${times})) as at (began, ended) where job_id = $1 and step = $4`,
      [id, secondsAgo, tookMs, step, step === 2 ? null : step],
    );
  }
  if (ending !== null) {
    const status = ending === 'completed' ? 'completed' : 'failed';
    await pool.query(
      `with ended as (update jobs set status = $4, failure_category = $5 where id = $1)
       update job_turns set status = $4, ended_at = ended from (values (${times})) as at (began, ended) where job_id = $1`,
      [id, secondsAgo, tookMs, status, ending === 'completed' ? null : ending],
    );
  }
  if (answered !== null) {
    const site = await buildSite(pool, { organizationId });
    const thread = newId('thr_');
    await pool.query(`insert into threads (id, site_id, organization_id, fp) values ($1, $2, $3, 'reader')`, [
      thread,
      site.id,
      organizationId,
    ]);
    await pool.query(
      `insert into thread_messages (thread_id, id, role, content, answered, ending, first_token_ms, duration_ms, created_at)
       values ($1, 'a', 'assistant', '', $2, 'finished', $3, $4, now() - $5 * interval '1 second')`,
      [thread, answered, answered ? tookMs : null, tookMs, secondsAgo],
    );
  }
  return id;
}

/** The figures as the rows have them. */
async function counted(pool: Pool, organizationId: string, from: Date) {
  const facts = `
    with jobs as (select * from jobs where organization_id = $1), facts as (
      select job_turns.created_at as at, 'created' as kind, null as measure, null::float8 as ms, null::bigint as cost, 0 as tokens
      from jobs join job_turns on job_id = id where job_turns.turn >= coalesce(forked_turn, 1)
      union all
      select job_turns.ended_at, case when failure_category = 'cancelled' then 'cancelled' else job_turns.status end, 'turn',
             extract(epoch from job_turns.ended_at - job_turns.created_at) * 1000, null, 0
      from jobs join job_turns on job_id = id where job_turns.ended_at is not null
      union all
      select answered_at, 'step', 'model', extract(epoch from answered_at - started_at) * 1000, job_steps.cost_micros,
             job_steps.output_tokens
      from jobs join job_steps on job_id = id where answered_at is not null and forked_step is null
      union all
      select thread_messages.created_at, case when answered then 'answered' else 'unanswered' end, measure,
             case measure when 'answer' then duration_ms else first_token_ms end, null, 0
      from threads join thread_messages on thread_id = threads.id, (values ('answer'), ('firstToken')) as measures (measure)
      where organization_id = $1
    )`;
  const kinds = await pool.query(
    `${facts} select kind, count(*) filter (where measure is distinct from 'firstToken')::integer as count, sum(cost)::float8 as cost,
       sum(tokens)::float8 as tokens
     from facts where at >= $2 group by kind`,
    [organizationId, from],
  );
  const durations = await pool.query<Omit<MeasuredDurations, 'at'>>(
    `${facts} select measure, count(*)::integer as count, percentile_disc(0.5) within group (order by ms) as "p50Ms",
       percentile_disc(0.95) within group (order by ms) as "p95Ms"
     from facts where at >= $2 and ms is not null group by measure order by measure`,
    [organizationId, from],
  );
  return { kinds: new Map(kinds.rows.map((row) => [row.kind, row])), durations: durations.rows };
}

async function expectEqual(pool: Pool, organizationId: string): Promise<void> {
  for (const hours of [1, 8, 25, 100, 720, 2_160]) {
    const found = await createOperationsStore(pool).read(
      { organizationId },
      { hours, bucketSeconds: bucketSecondsOf(hours) },
    );
    const { kinds, durations } = await counted(pool, organizationId, found.from);
    const sum = (name: keyof (typeof found.series)[number]) =>
      found.series.reduce((all, point) => all + Number(point[name]), 0);
    for (const kind of ['created', 'completed', 'failed', 'cancelled', 'answered', 'unanswered'] as const)
      expect([hours, kind, sum(kind)]).toEqual([hours, kind, kinds.get(kind)?.count ?? 0]);
    expect(sum('costMicros')).toBe(kinds.get('step')?.cost ?? 0);
    expect(sum('outputTokens')).toBe(kinds.get('step')?.tokens ?? 0);
    expect(sum('cachedTokens')).toBe(2 * sum('outputTokens'));
    expect(7 * sum('cacheWriteTokens')).toBe(sum('inputTokens'));
    expect(found.failures.reduce((all, { count }) => all + count, 0)).toBe(sum('failed') + sum('cancelled'));
    const names = ['completed', 'failed', 'cancelled', 'costMicros'] as const;
    for (const named of [found.models, found.projects])
      expect(names.map((name) => named.reduce((all, one) => all + one[name], 0))).toEqual(names.map(sum));
    const whole = found.durations.filter(({ at }) => at === null).toSorted((a, b) => (a.measure < b.measure ? -1 : 1));
    expect(whole.map(({ measure, count }) => ({ measure, count }))).toEqual(
      durations.map(({ measure, count }) => ({ measure, count })),
    );
    for (const [place, { p50Ms, p95Ms }] of durations.entries())
      for (const [binned, exact] of [
        [whole[place]?.p50Ms, p50Ms],
        [whole[place]?.p95Ms, p95Ms],
      ])
        expect(Math.abs(Math.log(Number(binned) / Math.max(1, Number(exact))))).toBeLessThan(Math.log(binGrowth));
  }
}

it(
  'counts exactly what the rows say, whenever and however often the facts are rolled up',
  { tags: ['slow'] },
  async () => {
    await using database = await createTestDatabase();
    const { pool } = database;
    const rollups = createOperationRollups(pool);
    const other = await buildOrganization(pool);
    await fc.assert(
      fc.asyncProperty(
        fc.array(happening, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 85 * 86_400 }),
        fc.nat(),
        async (all, sinceSeconds, cut) => {
          await pool.query(
            `update operation_start set since = now() - $1 * interval '1 second', after_job = '', after_thread = ''`,
            [sinceSeconds],
          );
          await pool.query(
            'delete from operation_rollups; delete from operation_facts; delete from jobs; delete from threads',
          );
          const { id } = await buildOrganization(pool);
          const ids = [];
          for (const [place, one] of all.entries()) {
            if (place === cut % all.length) await Promise.all([rollups.add(), rollups.add()]);
            ids.push(await happen(pool, id, one));
            await happen(pool, other.id, one);
          }
          const answered = all.findIndex(({ steps }) => steps > 0);
          const fork = { id: newId('job_'), models: null, prompt: 'More', idempotency: null };
          const from = { jobId: ids[answered] ?? '', step: 1 };
          if (answered >= 0) await createJobForkStore(pool).fork(operatorOf({ organizationId: id }), { ...fork, from });
          await Promise.all([rollups.addEarlier(), rollups.addEarlier(), rollups.add()]);
          await rollups.addEarlier();
          await expectEqual(pool, id);
          await Promise.all([rollups.add(), rollups.add()]);
          await expectEqual(pool, id);
          await rollups.sweep();
          await expectEqual(pool, id);
        },
      ),
      { numRuns: propertyRuns(15) },
    );
  },
);

it('costs what the jobs of a project have spent: compactions and lost calls, too', async () => {
  await using database = await createTestDatabase();
  const { pool } = database;
  const { jobId, turn } = await seedJob(pool);
  const ref = { jobId, turn, step: 1 };
  const leases = createModelCallLeases(pool);
  const { fence } = await claimAnswer(pool, ref);
  await leases.begin({ ...ref, fence, micros: 40 });
  await createJobContextStore(pool).storeCompaction({
    ...ref,
    uptoTurn: turn,
    uptoStep: 1,
    summary: '',
    ledger: { read: {}, changed: [], todo: [] },
    tree: null,
    usage: { inputTokens: 20, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 5 },
    costMicros: 300,
  });
  await leases.begin({ ...ref, fence, micros: 40 });
  await leases.lose({ ...ref, fence, micros: 50 });
  const { rows } = await pool.query('select organization_id, project_id, cost_micros::int as spent from jobs');
  const [{ organization_id: organizationId, project_id: id, spent }] = rows;
  expect(spent).toBe(350);
  const store = createOperationsStore(pool);
  for (let round = 0; round < 2; round += 1) {
    const { series, projects } = await store.read({ organizationId }, { hours: 1, bucketSeconds: bucketSecondsOf(1) });
    expect(series.reduce((sum, { costMicros }) => sum + costMicros, 0)).toBe(350);
    expect(series.reduce((sum, { inputTokens }) => sum + inputTokens, 0)).toBe(20);
    expect(projects).toMatchObject([{ id, costMicros: 350 }]);
    await createOperationRollups(pool).add();
  }
});
