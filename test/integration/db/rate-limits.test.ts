import { Pool } from 'pg';
import { expect, it } from 'vitest';
import { createRateLimitStore } from '../../../db/operations/rate-limits.ts';
import { fitsOneMore } from '../../../db/operations/sliding-window.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

// the next boundary of such a wide window is years away, so no test reaches one
const years = 1_000_000_000;

const policy = (name: string, limit: number, windowSeconds = years) => ({ name, limit, windowSeconds });

it('allows exactly the limit, however many processes ask at once', async () => {
  const pools = [1, 2].map(() => new Pool({ connectionString: database.url, max: 8 }));
  try {
    const stores = pools.map((pool) => createRateLimitStore(pool));
    // two counters named in both orders: locks are always taken in one order, so there is no deadlock
    const organization = { key: 'org a', policy: policy('org', 50) };
    const address = { key: 'ip a', policy: policy('ip', 1_000) };
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        stores[index % 2]!.take(index % 3 === 0 ? [organization, address] : [address, organization]),
      ),
    );
    expect(answers.filter((each) => each.every(({ allowed }) => allowed))).toHaveLength(50);
    const { rows } = await database.pool.query(`select current from rate_limits where key like '% a' order by key`);
    expect(rows).toEqual([{ current: 50 }, { current: 50 }]);
  } finally {
    await Promise.all(pools.map((pool) => pool.end()));
  }
});

it('does not charge one counter when another one refuses', async () => {
  const store = createRateLimitStore(database.pool);
  const full = { key: 'org b', policy: policy('org', 1) };
  const roomy = { key: 'ip b', policy: policy('ip', 10) };
  expect(await store.take([full, roomy])).toMatchObject([
    { allowed: true, remaining: 0 },
    { allowed: true, remaining: 9 },
  ]);
  const [refused, open] = await store.take([full, roomy]);
  expect(refused).toMatchObject({ allowed: false, remaining: 0 });
  expect(refused!.resetSeconds).toBeGreaterThan(0);
  expect(refused!.resetSeconds).toBeLessThanOrEqual(2 * years);
  expect(open).toMatchObject({ allowed: true, remaining: 9 });
  expect(await store.take([roomy])).toMatchObject([{ allowed: true, remaining: 8 }]);
  expect(await store.take([])).toEqual([]);
  expect(await store.take([{ key: 'none', policy: policy('none', 0) }])).toMatchObject([{ allowed: false }]);
});

it('weighs the previous bucket, and ignores the one before it', async () => {
  const store = createRateLimitStore(database.pool);
  const width = years;
  const counter = { key: 'org c', policy: policy('org', 100, width) };
  await store.take([counter]);
  const moveBack = (buckets: number, current: number) =>
    database.pool.query(
      `update rate_limits set bucket_start = floor(extract(epoch from now()) / $2::bigint) * $2 - $3::bigint * $2,
                              current = $4, previous = 100 where key = $1`,
      [counter.key, width, buckets, current],
    );
  await moveBack(1, 100);
  const [answer] = await store.take([counter]);
  const { rows } = await database.pool.query(
    `select current, previous, extract(epoch from now())::float8 - bucket_start as elapsed from rate_limits where key = $1`,
    [counter.key],
  );
  expect(rows[0].previous).toBe(100);
  // the same calculation in code and in SQL
  const state = { quota: 100, widthSeconds: width, previous: 100, current: 0, elapsedSeconds: rows[0].elapsed };
  expect(answer!.allowed).toBe(fitsOneMore(state));
  await moveBack(2, 100);
  expect(await store.take([counter])).toMatchObject([{ allowed: true, remaining: 99 }]);
});

it('counts in the newer bucket when the clock or another process was ahead', async () => {
  const store = createRateLimitStore(database.pool);
  const counter = { key: 'org d', policy: policy('org', 10, 60) };
  await store.take([counter]);
  await database.pool.query(`update rate_limits set bucket_start = bucket_start + 600, current = 9 where key = $1`, [
    counter.key,
  ]);
  expect(await store.take([counter])).toMatchObject([{ allowed: true, remaining: 0 }]);
  expect(await store.take([counter])).toMatchObject([{ allowed: false, remaining: 0 }]);
});

it('sweeps the counters outside every window, however many there are', async () => {
  const store = createRateLimitStore(database.pool);
  await store.take([
    { key: 'org e', policy: policy('org', 10) },
    { key: 'ip e', policy: policy('ip', 10) },
  ]);
  await database.pool.query(`update rate_limits set expires_at = now() - interval '1 second' where key = 'ip e'`);
  await database.pool.query(
    `insert into rate_limits (key, bucket_start, expires_at)
     select number || ' e', 0, now() - interval '1 second' from generate_series(1, 2500) as number`,
  );
  await store.sweep();
  const { rows } = await database.pool.query(`select key from rate_limits where key like '% e'`);
  expect(rows).toEqual([{ key: 'org e' }]);
});
