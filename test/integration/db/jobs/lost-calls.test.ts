import { describe, expect, it } from 'vitest';
import { operatorOf } from '../../../../db/caller.ts';
import { createJobWrites } from '../../../../db/for-worker/job-writes.ts';
import { createModelCallLeases } from '../../../../db/for-worker/model-call-leases.ts';
import { createErasure } from '../../../../db/organizations/erasure.ts';
import { claimAnswer } from '../../../support/database/claim-answer.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { seedJob } from '../seed.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);

describe('calls that have ended without an answer, of two jobs of a project', () => {
  async function twoJobs() {
    const { pool } = database;
    const leases = createModelCallLeases(pool);
    const ref = { ...(await seedJob(pool)), step: 1 };
    const other = { ...(await seedJob(pool)), step: 1 };
    const { rows } = await pool.query<{ projectId: string }>(
      `update jobs set project_id = (select project_id from jobs where id = $1) where id = any($2)
       returning project_id as "projectId"`,
      [ref.jobId, [ref.jobId, other.jobId]],
    );
    const { projectId } = rows[0]!;
    const callOf = async (step: typeof ref, dayMicros: number) => {
      const { fence } = await claimAnswer(pool, step);
      const budgets = { jobMicros: null, dayMicros, organizationMicros: null };
      return { ...step, fence, micros: 10, limit: { projectId, budgets, maxMicros: 60 } };
    };
    const reserved = async () => {
      const { rows: held } = await pool.query('select job_id as id from cost_reservations where project_id = $1', [
        projectId,
      ]);
      return held.map(({ id }) => id);
    };
    return { leases, refs: [ref, other] as const, callOf, reserved };
  }

  it('keep no other call waiting while they are retried later, or their turns have ended', async () => {
    const { leases, refs, callOf, reserved } = await twoJobs();
    const [failed, killed] = [await callOf(refs[0], 60), await callOf(refs[1], 60)];
    expect(await leases.begin(failed)).toEqual({ kind: 'begun' });
    expect(await leases.begin(killed)).toEqual({ kind: 'busy' });
    await leases.lose({ ...failed, micros: 0 });
    expect(await leases.begin(killed)).toEqual({ kind: 'begun' });
    expect(await reserved()).toEqual([killed.jobId]);
    await createJobWrites(database.pool).finish({ ...killed, status: 'failed', failureCategory: 'cancelled' });
    await database.pool.query("update job_steps set asked_until = asked_until - interval '2 minutes'");
    await leases.loseAbandoned();
    expect(await reserved()).toEqual([]);
  });

  it('do not wait for each other after a worker was killed and the budget was lowered', async () => {
    const { leases, refs, callOf } = await twoJobs();
    for (const ref of refs) expect(await leases.begin(await callOf(ref, 100))).toEqual({ kind: 'begun' });
    const calls = [await callOf(refs[0], 50), await callOf(refs[1], 50)] as const;
    expect(await leases.begin(calls[0])).toEqual({ kind: 'busy' });
    expect(await leases.begin(calls[1])).toEqual({ kind: 'begun' });
    // the call of the killed worker counts as spent
    const lowered = { ...calls[0].limit, budgets: { ...calls[0].limit.budgets, dayMicros: 20 } };
    const spent = { kind: 'spent', scope: 'day', spentMicros: 20, budgetMicros: 20 };
    expect(await leases.begin({ ...calls[0], limit: lowered })).toEqual(spent);
  });
});

it('counts in the spending of its organization a call in flight whose job or project is deleted', async () => {
  const { pool } = database;
  const erasure = createErasure(pool);
  for (const deleted of ['job', 'project'] as const) {
    const ref = { ...(await seedJob(pool)), step: 1 };
    const { fence } = await claimAnswer(pool, ref);
    await createModelCallLeases(pool).begin({ ...ref, fence, micros: 70 });
    const { rows } = await pool.query('select organization_id, project_id from jobs where id = $1', [ref.jobId]);
    const [{ organization_id: organizationId, project_id: projectId }] = rows;
    const id = deleted === 'job' ? ref.jobId : projectId;
    expect(await erasure[deleted](operatorOf({ organizationId }), id)).toBe(true);
    const spent = 'select cost_micros::int as spent from organization_spending where organization_id = $1';
    expect((await pool.query(spent, [organizationId])).rows).toEqual([{ spent: 70 }]);
  }
});
