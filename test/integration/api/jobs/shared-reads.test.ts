import { beforeAll, expect, it, vi } from 'vitest';
import { createJobChangeFeed } from '../../../../api/jobs/job-change-feed.ts';
import { createJobEventFeed } from '../../../../api/jobs/job-event-feed.ts';
import { createJobEventStore } from '../../../../db/jobs/job-events.ts';
import { createJobListStore } from '../../../../db/jobs/job-lists.ts';
import { buildJob, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { insertEndedJobs } from '../../../support/database/many-jobs.ts';
import { recordStatements } from '../../../support/database/record-statements.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
let statements: ReturnType<typeof recordStatements>;
beforeAll(async () => {
  statements = recordStatements(database.pool);
});

/** Wakes its watchers at once. */
function createBells() {
  const wakes = new Set<(jobId: string | null) => void>();
  const add = (wake: (jobId: string | null) => void) => {
    wakes.add(wake);
    return { [Symbol.dispose]: () => void wakes.delete(wake) };
  };
  return {
    onChange: (_jobId: string, wake: () => void) => add(wake),
    onAnyChange: add,
    ring: () => wakes.forEach((wake) => wake(null)),
    count: () => wakes.size,
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

/** Watches the jobs of an organization, from now on. */
async function startChanges({ viewers = 1, lists = createJobListStore(database.pool) } = {}) {
  const project = await buildProject(database.pool);
  const wakeups = createBells();
  const feed = createJobChangeFeed({ lists, wakeups, pollEveryMs: 60_000, restMs: 0 });
  const afterMicros = await lists.nowMicros();
  const ending = new AbortController();
  const watched = { owner: project, projectId: project.id };
  const watch = () => feed.watch(watched, { afterMicros, signal: ending.signal });
  return { project, wakeups, watch, end: () => ending.abort(), streams: Array.from({ length: viewers }, watch) };
}

/** Reads until a job arrives; returns the ids of the jobs on the way. */
async function readUntil(stream: AsyncGenerator<string>, id: string): Promise<string[]> {
  const ids: string[] = [];
  while (!ids.includes(id)) {
    const { value, done } = await stream.next();
    if (done === true) throw new Error('The stream has ended.');
    for (const [, job] of value.matchAll(/^data: \{"id":"(\w+)"/gm)) ids.push(job!);
  }
  return ids;
}

it.each([1, 20])('a change of a job costs one query for %i viewers of the jobs', async (viewers) => {
  const real = createJobListStore(database.pool);
  let answered = 0;
  const listChanged: typeof real.listChanged = async (...query) => {
    const jobs = await real.listChanged(...query);
    answered += 1;
    return jobs;
  };
  const { project, wakeups, streams, end } = await startChanges({ viewers, lists: { ...real, listChanged } });
  const first = await buildJob(database.pool, project);
  const readAll = (id: string) => Promise.all(streams.map((stream) => readUntil(stream, id)));
  for (const seen of await readAll(first.id)) expect(seen).toEqual([first.id]);
  // a query under way may find the next change before anyone is told of it
  await vi.waitFor(() => expect(answered).toBe(viewers + 1));
  for (let change = 0; change < 3; change += 1) {
    answered = 0;
    const { id } = await buildJob(database.pool, project);
    const read = readAll(id);
    wakeups.ring();
    for (const seen of await read) expect(seen).toEqual([id]);
    expect(answered).toBe(1);
  }
  end();
  for (const stream of streams) while ((await stream.next()).done !== true);
  await vi.waitFor(() => expect(wakeups.count()).toBe(0));
});

it('a viewer who comes later gets what changed before from a query of its own', async () => {
  const { project, wakeups, watch, streams } = await startChanges();
  const jobs = [await buildJob(database.pool, project), await buildJob(database.pool, project)];
  await readUntil(streams[0]!, jobs[1]!.id);
  expect(await readUntil(watch(), jobs[1]!.id)).toEqual(jobs.map(({ id }) => id));
  expect(wakeups.count()).toBe(1);
});

it('a slow viewer gets the newest state of each job once, however many changed', async () => {
  const { project, wakeups, streams, watch } = await startChanges();
  const { id } = await buildJob(database.pool, project);
  const [slow, quick] = [streams[0]!, watch()];
  await Promise.all([readUntil(slow, id), readUntil(quick, id)]);
  await insertEndedJobs(database.pool, project.id, 1_500);
  await database.pool.query('update jobs set settled_at = now(), updated_at = now() where project_id = $1', [
    project.id,
  ]);
  const last = await buildJob(database.pool, project);
  wakeups.ring();
  await readUntil(quick, last.id);
  const seen = await readUntil(slow, last.id);
  expect([seen.length, new Set(seen).size]).toEqual([1_502, 1_502]);
});

it('a failed query ends the streams of all viewers, and the next one starts again', async () => {
  const real = createJobListStore(database.pool);
  let problem: Error | null = null;
  const lists: typeof real = {
    ...real,
    listChanged: (...query) => (problem === null ? real.listChanged(...query) : Promise.reject(problem)),
  };
  const { project, wakeups, streams, watch } = await startChanges({ viewers: 2, lists });
  const { id } = await buildJob(database.pool, project);
  await Promise.all(streams.map((stream) => readUntil(stream, id)));
  problem = new Error('The database is down.');
  const reading = Promise.allSettled(streams.map((stream) => readUntil(stream, 'never')));
  wakeups.ring();
  expect((await reading).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  problem = null;
  expect(await readUntil(watch(), id)).toEqual([id]);
});
