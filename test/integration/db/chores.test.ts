import { expect, it } from 'vitest';
import { createChoreClaims } from '../../../db/for-worker/chores.ts';
import { createTestDatabase } from '../../support/database/database.ts';

it('gives each round of a chore to one of many processes', async () => {
  await using database = await createTestDatabase();
  const { claim } = createChoreClaims(database.pool);
  const round = async (name: string) => {
    const claims = await Promise.all(Array.from({ length: 10 }, () => claim(name, 60_000)));
    return claims.filter(Boolean).length;
  };
  expect([await round('one'), await round('one'), await round('other')]).toEqual([1, 0, 1]);
  await database.pool.query(`update chores set due_at = now() - interval '1 second' where name = 'one'`);
  expect([await round('one'), await round('one'), await round('other')]).toEqual([1, 0, 0]);
});
