import { AsyncLocalStorage } from 'node:async_hooks';
import type { Pool } from 'pg';
import { expect, it } from 'vitest';
import { wakeWatchers } from '../../../db/jobs/wake-watchers.ts';

interface Statement {
  values: [string[]];
}

/** A pool whose notifications end as the test says. */
function poolOf(answer: (jobIds: string[]) => Promise<void>): Pool {
  return { query: ({ values: [jobIds] }: Statement) => answer(jobIds) } as unknown as Pool;
}

it('announces the first change at once, and further ones of a process together', async () => {
  const sent: string[][] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const pool = poolOf(async (jobIds) => {
    sent.push(jobIds);
    if (sent.length === 2) resolve();
  });
  for (const jobId of ['a', 'b', 'c', 'b']) wakeWatchers(pool, jobId);
  expect(sent).toEqual([['a']]);
  await promise;
  expect(sent).toEqual([['a'], ['b', 'c']]);
});

it('continues after a notification that failed, outside the request that made the change', async () => {
  const requests = new AsyncLocalStorage<string>();
  const sentBy: (string | undefined)[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const pool = poolOf(async () => {
    sentBy.push(requests.getStore());
    if (sentBy.length === 2) resolve();
    throw new Error('The database is down.');
  });
  requests.run('one', () => wakeWatchers(pool, 'a'));
  requests.run('other', () => wakeWatchers(pool, 'b'));
  await promise;
  expect(sentBy).toEqual([undefined, undefined]);
});
