import { expect, it } from 'vitest';
import { refusalOfStore } from '../../../../api/http/store-refusals.ts';
import { operatorOf } from '../../../../db/caller.ts';
import { createErasure } from '../../../../db/organizations/erasure.ts';
import { newId } from '../../../../db/ids.ts';
import { createJobEndings } from '../../../../db/jobs/job-endings.ts';
import { createJobForkStore } from '../../../../db/jobs/job-forks.ts';
import { createJobMessageStore } from '../../../../db/jobs/job-messages.ts';
import { createJobStore } from '../../../../db/jobs/jobs.ts';
import { createPool, withTransaction } from '../../../../db/pool.ts';
import { createTestDatabase, untilBlocked } from '../../../support/database/database.ts';
import { insertActiveJob, insertSteps } from '../../../support/database/many-jobs.ts';
import { newJob, seedProject } from '../seed.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);

it('retries a change after a deadlock with another one', async () => {
  const { pool } = database;
  const projects = await Promise.all([seedProject(pool), seedProject(pool)]);
  const [first = '', second = ''] = projects.map(({ projectId }) => projectId);
  const arrived: (() => void)[] = [];
  const both = Promise.all([0, 1].map(() => new Promise<void>((done) => arrived.push(done))));
  const rename = (order: string[], name: string) => {
    let runs = 0;
    return withTransaction(pool, async (client) => {
      runs += 1;
      for (const [at, id] of order.entries()) {
        await client.query('update projects set name = $2 where id = $1', [id, name]);
        if (at === 0 && runs === 1) {
          arrived.pop()?.();
          await both;
        }
      }
      return runs;
    });
  };
  const runs = await Promise.all([rename([first, second], 'one'), rename([second, first], 'two')]);
  expect(Math.max(...runs)).toBeGreaterThan(1);
});

it('runs a statement again that ended in a deadlock with a transaction', async () => {
  const projects = await Promise.all([seedProject(database.pool), seedProject(database.pool)]);
  const ids = projects.map(({ projectId }) => projectId);
  const pool = createPool({ url: database.url, maxConnections: 2, applicationName: 'statements' });
  const other = await database.pool.connect();
  try {
    // PostgreSQL ends the statement, not the transaction, which looks for a deadlock much later
    await other.query(
      `begin; set local deadlock_timeout = '1min'; select pg_advisory_lock(7);
       update projects set name = 'other' where id = '${ids[1]}'`,
    );
    const renamed = pool.query(
      `with first as (update projects set name = 'both' where id = $1 returning pg_advisory_xact_lock(7))
       update projects set name = 'both' where id = $2 and (select count(*) from first) = 1`,
      ids,
    );
    await untilBlocked(database);
    await other.query(
      `select pg_advisory_unlock(7); update projects set name = 'other' where id = '${ids[0]}'; commit`,
    );
    expect((await renamed).rowCount).toBe(1);
    const { rows } = await pool.query('select distinct name from projects where id = any($1)', [ids]);
    expect(rows).toEqual([{ name: 'both' }]);
  } finally {
    other.release();
    await pool.end();
  }
});

it('answers any request about what is being deleted, and leaves nothing of it', async () => {
  const pool = createPool({
    url: database.url,
    maxConnections: 20,
    applicationName: 'races',
    connectTimeoutMs: 30_000,
  });
  const [erasure, forks, messages] = [createErasure(pool), createJobForkStore(pool), createJobMessageStore(pool)];
  const [jobs, endings] = [createJobStore(pool), createJobEndings(pool)];
  try {
    for (let round = 0; round < 5; round += 1) {
      const owner = await seedProject(pool);
      const caller = operatorOf(owner);
      const { projectId } = owner;
      const made = await Promise.all([1, 2, 3].map(() => insertActiveJob(pool, projectId, newId('job_'))));
      for (const id of made) await insertSteps(pool, id, { from: 1, to: 3 });
      const changes = made.flatMap((jobId) => [
        forks.fork(caller, {
          id: newId('job_'),
          from: { jobId, step: 2 },
          models: null,
          prompt: 'Go on.',
          idempotency: null,
        }),
        messages.send(caller, { jobId, prompt: 'Say more.', idempotency: null }),
        erasure.job(caller, jobId),
        endings.cancel(caller, jobId),
        jobs.create(caller, newJob(owner)),
      ]);
      const settled = await Promise.allSettled([...changes, erasure.project(caller, projectId)]);
      const errors = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      expect(errors.filter((error) => refusalOfStore(error) === null)).toEqual([]);
      const { rows } = await pool.query('select id from jobs where project_id = $1', [projectId]);
      expect(rows).toEqual([]);
    }
  } finally {
    await pool.end();
  }
});
