import { afterAll, beforeAll, expect, it } from 'vitest';
import { createJobEventFeed } from '../../../../api/jobs/job-event-feed.ts';
import { createJobEventStore } from '../../../../db/jobs/job-events.ts';
import { buildJob, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { recordStatements } from '../../../support/database/record-statements.ts';

let database: TestDatabase;
let statements: ReturnType<typeof recordStatements>;
beforeAll(async () => {
  database = await createTestDatabase();
  statements = recordStatements(database.pool);
});
afterAll(() => database?.[Symbol.asyncDispose]());

/** Wakes its watchers at once. */
function createBells() {
  const wakes = new Set<() => void>();
  const add = (wake: () => void) => {
    wakes.add(wake);
    return { [Symbol.dispose]: () => void wakes.delete(wake) };
  };
  return {
    onChange: (_jobId: string, wake: () => void) => add(wake),
    ring: () => wakes.forEach((wake) => wake()),
  };
}

it('watchers of a job at several positions cost one query for each position, and one for each event', async () => {
  const { pool } = database;
  const project = await buildProject(pool);
  const { id } = await buildJob(pool, project);
  const wakeups = createBells();
  const feed = createJobEventFeed({ events: createJobEventStore(pool), wakeups });
  const append = async (count: number) => {
    const events = Array.from({ length: count }, () => ({ type: 'text', data: { attempt: 1, offset: 0, text: 'x' } }));
    await pool.query('select append_job_events($1, 1, 1, $2)', [id, JSON.stringify(events)]);
    wakeups.ring();
  };
  await append(40);
  const watchers = Array.from({ length: 40 }, (_, at) => ({ reader: feed.watch(project, id), last: (at % 4) * 10 }));
  const { signal } = new AbortController();
  const readAll = async () => {
    statements.take();
    const pages = await Promise.all(watchers.map(({ reader, last }) => reader.read(last)));
    pages.forEach(({ last }, at) => (watchers[at]!.last = last));
    return { statements: statements.take(), lasts: [...new Set(pages.map(({ last }) => last))] };
  };
  expect(await readAll()).toEqual({ statements: Array(4).fill('read-job-events'), lasts: [41] });
  for (let seq = 42; seq < 45; seq += 1) {
    await append(1);
    await Promise.all(watchers.map(({ reader }) => reader.changed(signal)));
    expect(await readAll()).toEqual({ statements: ['read-job-events'], lasts: [seq] });
  }
});
