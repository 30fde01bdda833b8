import { expect, it } from 'vitest';
import { createServiceFigureStore } from '../../../db/operations/service-figures.ts';
import { buildJob, buildProject } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';

it('counts jobs exactly as their rows do, and keeps the tokens and the cost of those that were deleted', async () => {
  await using database = await createTestDatabase();
  const { pool } = database;
  const project = await buildProject(pool);
  const figures = createServiceFigureStore(pool);
  const deleted = { input: 0, output: 0, cost: 0 };
  const counted = async () => {
    const { jobs, inputTokens, outputTokens, costMicros } = await figures.read();
    const { rows } = await pool.query(
      `select status, count(*)::integer as count, sum(input_tokens)::float8 as input, sum(output_tokens)::float8 as output,
              coalesce(sum(cost_micros), 0)::float8 as cost from jobs group by status order by status`,
    );
    const sum = (name: keyof typeof deleted) => rows.reduce((all, row) => all + row[name], deleted[name]);
    expect(jobs).toEqual(rows.map(({ status, count }) => ({ status, count })));
    expect({ inputTokens, outputTokens, costMicros }).toEqual({
      inputTokens: sum('input'),
      outputTokens: sum('output'),
      costMicros: sum('cost'),
    });
  };
  await counted();
  const made = await Promise.all(Array.from({ length: 60 }, () => buildJob(pool, project)));
  await counted();
  const ids = made.map(({ id }) => id);
  const update = (change: string, from: number, to: number) =>
    pool.query(`update jobs set ${change} where id = any($1)`, [ids.slice(from, to)]);
  await update('input_tokens = 10, output_tokens = 2, cost_micros = 7', 0, 60);
  await update(`status = 'completed'`, 0, 30);
  await update(`status = 'failed', input_tokens = 11`, 30, 50);
  await update(`cost_micros = null`, 0, 2);
  await counted();
  await update(`status = 'archived'`, 0, 25);
  await update(`cost_micros = cost_micros + 3, updated_at = now()`, 20, 40);
  await update(`status = 'active'`, 40, 45);
  // completed, archived, failed and active ones
  const gone = await pool.query<{ input: number; output: number; cost: number }>(
    `delete from jobs where id = any($1)
     returning input_tokens::float8 as input, output_tokens::float8 as output, cost_micros::float8 as cost`,
    [[...ids.slice(10, 35), ...ids.slice(42, 44), ...ids.slice(55)]],
  );
  for (const row of gone.rows) for (const name of ['input', 'output', 'cost'] as const) deleted[name] += row[name];
  await counted();
  // at the same moment in several processes
  await Promise.all([figures.addUp(), update(`status = 'archived'`, 45, 60), figures.addUp(), figures.addUp()]);
  await counted();
  await figures.addUp();
  await counted();
  const { rows } = await pool.query('select count(*)::integer as count from job_totals');
  expect(rows[0].count).toBeLessThan(100);
});

it('counts a start as unconfirmed after a minute: under load, some start is always under way', async () => {
  await using database = await createTestDatabase();
  const { pool } = database;
  const figures = createServiceFigureStore(pool);
  await buildJob(pool, await buildProject(pool));
  expect(await figures.read()).toMatchObject({ waiting: 1, unstarted: 0 });
  await pool.query(`update job_outbox set created_at = now() - interval '61 seconds'`);
  expect(await figures.read()).toMatchObject({ unstarted: 1 });
});
