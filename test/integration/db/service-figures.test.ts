import { expect, it } from 'vitest';
import { createServiceFigureStore } from '../../../db/operations/service-figures.ts';
import { buildJob, buildProject } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';

it('counts jobs, tokens and cost exactly as their rows do, whatever happens to the rows', async () => {
  await using database = await createTestDatabase();
  const { pool } = database;
  const project = await buildProject(pool);
  const figures = createServiceFigureStore(pool);
  const counted = async () => {
    const { jobs, inputTokens, outputTokens, costMicros } = await figures.read();
    const { rows } = await pool.query(
      `select status, count(*)::integer as count, sum(input_tokens)::float8 as input, sum(output_tokens)::float8 as output,
              coalesce(sum(cost_micros), 0)::float8 as cost from jobs group by status order by status`,
    );
    const sum = (name: string) => rows.reduce((all, row) => all + row[name], 0);
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
  await pool.query('delete from jobs where id = any($1)', [ids.slice(10, 35)]);
  await counted();
  // at the same moment in several processes
  await Promise.all([figures.addUp(), update(`status = 'archived'`, 45, 60), figures.addUp(), figures.addUp()]);
  await counted();
  await figures.addUp();
  await counted();
  const { rows } = await pool.query('select count(*)::integer as count from job_totals');
  expect(rows[0].count).toBeLessThan(100);
});
