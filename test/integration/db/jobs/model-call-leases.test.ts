import { expect, it } from 'vitest';
import { createModelCallLeases } from '../../../../db/for-worker/model-call-leases.ts';
import { createJobWrites } from '../../../../db/for-worker/job-writes.ts';
import { createStepClaims } from '../../../../db/for-worker/step-claims.ts';
import { createStepStore } from '../../../../db/for-worker/steps.ts';
import { claimAnswer } from '../../../support/database/claim-answer.ts';
import { createTestDatabase, untilBlocked } from '../../../support/database/database.ts';
import { asOperator } from '../../../support/stack/operator.ts';
import { seedJob } from '../seed.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const scene = async () => {
  const { pool } = database;
  const ref = { ...(await seedJob(pool)), step: 1 };
  return { ref, leases: createModelCallLeases(pool), steps: createStepStore(pool) };
};

const passTime = () => database.pool.query("update job_steps set asked_until = asked_until - interval '1 minute'");

it('holds a lease from the claim of a step until its answer is stored', async () => {
  const { ref, leases, steps } = await scene();
  expect(await leases.isInFlight(ref)).toBe(false);
  await claimAnswer(database.pool, ref);
  expect(await leases.isInFlight(ref)).toBe(true);
  const response = { content: [], text: '', toolCalls: [] };
  const usage = { inputTokens: 1, outputTokens: 1 };
  await steps.storeResponse({
    ...ref,
    model: 'offline/editor',
    requestHash: 'h',
    response,
    finishReason: 'stop',
    usage,
    costMicros: null,
  });
  expect(await leases.isInFlight(ref)).toBe(false);
});

it('holds a lease only as long as it is renewed', async () => {
  const { ref, leases } = await scene();
  const other = { ...(await seedJob(database.pool)), step: 4 };
  for (const step of [ref, other]) await claimAnswer(database.pool, step);
  await passTime();
  expect(await leases.isInFlight(ref)).toBe(false);
  await leases.renew([ref, other]);
  expect([await leases.isInFlight(ref), await leases.isInFlight(other)]).toEqual([true, true]);
});

it('releases the lease of an attempt that stops, but not the lease of a newer one', async () => {
  const { ref, leases } = await scene();
  const { fence } = await claimAnswer(database.pool, ref);
  const newer = await claimAnswer(database.pool, ref);
  await leases.release({ ...ref, fence });
  expect(await leases.isInFlight(ref)).toBe(true);
  await leases.release({ ...ref, fence: newer.fence });
  expect(await leases.isInFlight(ref)).toBe(false);
});

it('refuses a claim of a step while another attempt holds its lease', async () => {
  const { ref, leases, steps } = await scene();
  const claims = await Promise.all([1, 2, 3].map(() => steps.claimAnswer(ref)));
  expect(claims.filter((claimed) => claimed !== null)).toMatchObject([{ fence: 1 }]);
  const started = `select from job_events where job_id = $1 and type = 'step-start'`;
  expect((await database.pool.query(started, [ref.jobId])).rowCount).toBe(1);
  await passTime();
  expect(await steps.claimAnswer(ref)).toMatchObject({ fence: 2 });
  await leases.release({ ...ref, fence: 2 });
  expect(await steps.claimAnswer(ref)).toMatchObject({ fence: 3 });
});

it('sends nothing once the answer of an earlier attempt is stored', async () => {
  const { ref, leases, steps } = await scene();
  await claimAnswer(database.pool, ref);
  const { fence } = await claimAnswer(database.pool, ref);
  const answer = { content: [], text: '', toolCalls: [] };
  const usage = { inputTokens: 1, outputTokens: 1 };
  await steps.storeResponse({
    ...ref,
    model: 'offline/editor',
    requestHash: 'h',
    response: answer,
    finishReason: 'stop',
    usage,
    costMicros: 100,
  });
  expect(await leases.begin({ ...ref, fence, micros: 80 })).toEqual({ kind: 'superseded' });
});

it('takes the lease again when a call begins, which it may have lost since the claim', async () => {
  const { ref, leases } = await scene();
  const { fence } = await claimAnswer(database.pool, ref);
  await passTime();
  expect(await leases.begin({ ...ref, fence, micros: 80 })).toEqual({ kind: 'begun' });
  expect(await createStepClaims(database.pool, null).claimAnswer(ref)).toBeNull();
});

it('sends nothing once the turn has ended, even if a newer one has started', async () => {
  const { ref, leases } = await scene();
  const { fence } = await claimAnswer(database.pool, ref);
  await createJobWrites(database.pool).finish({ ...ref, status: 'failed', failureCategory: 'cancelled' });
  expect(await leases.begin({ ...ref, fence, micros: 80 })).toEqual({ kind: 'superseded' });
  await asOperator(database.pool).send({ jobId: ref.jobId, prompt: 'Again', idempotency: null });
  expect(await leases.begin({ ...ref, fence, micros: 80 })).toEqual({ kind: 'superseded' });
  const { rows } = await database.pool.query('select asked_micros::int as asked from job_steps where job_id = $1', [
    ref.jobId,
  ]);
  expect(rows).toEqual([{ asked: 0 }]);
});

it('charges the call of a killed attempt once the next call starts, and never twice', async () => {
  const { ref, leases, steps } = await scene();
  const { pool } = database;
  const costOf = async () => {
    const { rows } = await pool.query(
      `select jobs.cost_micros::int as job, lost_micros::int as lost, asked_micros::int as asked,
              (select sum(cost_micros)::int from project_spending as spent where spent.project_id = jobs.project_id) as day
       from job_steps join jobs on jobs.id = job_id where job_id = $1`,
      [ref.jobId],
    );
    return rows[0];
  };
  const killed = await claimAnswer(database.pool, ref);
  expect(await leases.begin({ ...ref, fence: killed.fence, micros: 70 })).toEqual({ kind: 'begun' });
  expect(await costOf()).toEqual({ job: 0, lost: 0, asked: 70, day: null });

  const { fence } = await claimAnswer(database.pool, ref);
  expect(await leases.begin({ ...ref, fence: killed.fence, micros: 70 })).toEqual({ kind: 'superseded' });
  expect(await leases.begin({ ...ref, fence, micros: 80 })).toEqual({ kind: 'begun' });
  expect(await costOf()).toEqual({ job: 70, lost: 70, asked: 80, day: 70 });
  await leases.lose({ ...ref, fence: killed.fence, micros: 1_000 });
  await leases.lose({ ...ref, fence, micros: 85 });
  await leases.lose({ ...ref, fence, micros: 85 });
  expect(await costOf()).toEqual({ job: 155, lost: 155, asked: 0, day: 155 });

  await leases.begin({ ...ref, fence, micros: 80 });
  const response = { content: [], text: '', toolCalls: [] };
  const usage = { inputTokens: 1, outputTokens: 1 };
  await steps.storeResponse({
    ...ref,
    model: 'offline/editor',
    requestHash: 'h',
    response,
    finishReason: 'stop',
    usage,
    costMicros: 100,
  });
  await leases.lose({ ...ref, fence, micros: 80 });
  expect(await costOf()).toEqual({ job: 255, lost: 155, asked: 0, day: 255 });
});

it('charges a call that a killed worker left behind once its turn has ended, and none in flight', async () => {
  const { pool } = database;
  const writes = createJobWrites(pool);
  const first = await scene();
  const { leases } = first;
  const second = { ...(await seedJob(pool)), step: 1 };
  await pool.query('update jobs set project_id = (select project_id from jobs where id = $2) where id = $1', [
    second.jobId,
    first.ref.jobId,
  ]);
  const active = { ...(await seedJob(pool)), step: 1 };
  const answering = { ...(await seedJob(pool)), step: 1 };
  for (const ref of [first.ref, second, active, answering]) {
    const { fence } = await claimAnswer(database.pool, ref);
    await leases.begin({ ...ref, fence, micros: 70 });
  }
  const cancelled = { turn: 1, status: 'failed', failureCategory: 'cancelled' } as const;
  for (const { jobId } of [first.ref, second, answering]) await writes.finish({ ...cancelled, jobId });
  await leases.loseAbandoned();
  await passTime();
  await passTime();
  await leases.renew([answering]);
  for (let round = 0; round < 2; round += 1) await leases.loseAbandoned();
  const { rows } = await pool.query(
    `select cost_micros::int as job, lost_micros::int as lost, asked_micros::int as asked
     from unnest($1::text[]) with ordinality as wanted (id, place)
     join (select id, jobs.cost_micros, lost_micros, asked_micros from jobs join job_steps on job_id = id) as found using (id)
     order by place`,
    [[first.ref, second, active, answering].map(({ jobId }) => jobId)],
  );
  const counted = { job: 70, lost: 70, asked: 0 };
  const open = { job: 0, lost: 0, asked: 70 };
  expect(rows).toEqual([counted, counted, open, open]);
  const day =
    'select cost_micros::int as day from project_spending where project_id = (select project_id from jobs where id = $1)';
  expect((await pool.query(day, [second.jobId])).rows).toEqual([{ day: 140 }]);
});

it('counts the most that calls in flight may cost: of calls at the same time, the budget of the day admits one', async () => {
  const { pool } = database;
  const { leases, steps, ref } = await scene();
  const refs = [ref];
  for (let more = 0; more < 4; more += 1) refs.push({ ...(await seedJob(pool)), step: 1 });
  const { rows } = await pool.query<{ projectId: string }>(
    `update jobs set project_id = (select project_id from jobs where id = $1) where id = any($2)
     returning project_id as "projectId"`,
    [ref.jobId, refs.map(({ jobId }) => jobId)],
  );
  const budgets = { jobMicros: null, dayMicros: 100, organizationMicros: null };
  const limit = { projectId: rows[0]!.projectId, budgets, maxMicros: 100 };
  const calls = [];
  for (const one of refs) {
    const { fence } = await claimAnswer(pool, one);
    calls.push({ ...one, fence, micros: 10, limit });
  }
  const stale = calls.map((call) => ({ ...call, fence: call.fence + 1 }));
  const superseded = stale.map(() => ({ kind: 'superseded' }));
  expect(await Promise.all(stale.map((call) => leases.begin(call)))).toEqual(superseded);

  const starts = await Promise.all(calls.map((call) => leases.begin(call)));
  const begun = starts.findIndex(({ kind }) => kind === 'begun');
  expect(starts).toEqual(calls.map((_, at) => ({ kind: at === begun ? 'begun' : 'busy' })));
  await steps.storeResponse({
    ...refs[begun]!,
    model: 'offline/editor',
    requestHash: 'h',
    response: { content: [], text: '', toolCalls: [] },
    finishReason: 'stop',
    usage: { inputTokens: 1, outputTokens: 1 },
    costMicros: 100,
  });
  const waiting = calls[begun === 0 ? 1 : 0]!;
  expect(await leases.begin(waiting)).toEqual({ kind: 'spent', scope: 'day', spentMicros: 100, budgetMicros: 100 });
});

it('holds no lock of the organization while it waits for its step', async () => {
  const { pool } = database;
  const { leases, ref } = await scene();
  const { fence } = await claimAnswer(pool, ref);
  const { rows } = await pool.query<{ projectId: string; organizationId: string }>(
    'select project_id as "projectId", organization_id as "organizationId" from jobs where id = $1',
    [ref.jobId],
  );
  const { projectId, organizationId } = rows[0]!;
  const client = await pool.connect();
  await client.query('begin');
  await client.query('select from job_steps where job_id = $1 for update', [ref.jobId]);
  const limit = { projectId, budgets: { jobMicros: null, dayMicros: 100, organizationMicros: null }, maxMicros: 100 };
  const start = leases.begin({ ...ref, fence, micros: 10, limit });
  await untilBlocked(database);
  await pool.query('select from organizations where id = $1 for no key update nowait', [organizationId]);
  await client.query('rollback');
  client.release();
  expect(await start).toEqual({ kind: 'begun' });
});
