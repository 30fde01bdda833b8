import { expect, it } from 'vitest';
import { createJobEventFeed } from '../../../../api/jobs/job-event-feed.ts';
import type { JobEventRow } from '../../../../db/jobs/job-events.ts';
import type { JobStatus } from '../../../../workflows/contract/job.ts';

const owner = { organizationId: 'org_1' };
const { signal } = new AbortController();

/** A feed over events in memory that counts its queries. */
function startFeed() {
  const log: JobEventRow[] = [];
  const changed = new Set<() => void>();
  const state = { queries: 0, problem: null as Error | null, status: 'active' as JobStatus };
  const feed = createJobEventFeed({
    events: {
      async read(_owner, _jobId, { after, limit }) {
        state.queries += 1;
        if (state.problem !== null) throw state.problem;
        return { events: log.slice(after, after + limit), status: state.status };
      },
    },
    wakeups: {
      onChange(_jobId, wake) {
        changed.add(wake);
        return { [Symbol.dispose]: () => void changed.delete(wake) };
      },
    },
  });
  function append(count = 1) {
    for (let one = 0; one < count; one += 1)
      log.push({ seq: log.length + 1, turn: 1, step: 1, type: 'text', data: {}, createdAt: new Date() });
    for (const wake of changed) wake();
  }
  return { feed, state, append, watchedJobs: () => changed.size };
}

it('makes one query for all watchers that have received the same events', async () => {
  const { feed, state, append, watchedJobs } = startFeed();
  append(3);
  const readers = Array.from({ length: 250 }, () => feed.watch(owner, 'job_1'));
  const seen = await Promise.all(readers.map((reader) => reader.read(0)));
  expect(new Set(seen.map(({ last }) => last))).toEqual(new Set([3]));
  expect(state.queries).toBe(1);
  const woken = Promise.all(readers.map((reader) => reader.changed(signal)));
  append();
  await woken;
  const next = await Promise.all(readers.map((reader) => reader.read(3)));
  expect(new Set(next.map(({ text }) => text)).size).toBe(1);
  expect(next[0]).toMatchObject({ last: 4, isFull: false, status: 'active' });
  expect(next[0]?.text).toMatch(/^id: 4\nevent: text\ndata: \{"seq":4,.*\}\n\n$/);
  expect(state.queries).toBe(2);
  expect(watchedJobs()).toBe(1);
  for (const reader of readers) reader[Symbol.dispose]();
  expect(watchedJobs()).toBe(0);
});

it('queries separately for a watcher that has fallen behind', async () => {
  const { feed, state, append } = startFeed();
  using ahead = feed.watch(owner, 'job_1');
  using behind = feed.watch(owner, 'job_1');
  append(60);
  expect(await behind.read(0)).toMatchObject({ last: 50, isFull: true });
  expect(await ahead.read(50)).toMatchObject({ last: 60, isFull: false });
  expect(await behind.read(50)).toMatchObject({ last: 60 });
  expect(state.queries).toBe(2);
});

it('makes one query for each position of watchers that take turns', async () => {
  const { feed, state, append } = startFeed();
  append(10);
  using reader = feed.watch(owner, 'job_1');
  const positions = [2, 4, 6, 8];
  for (let round = 0; round < 5; round += 1) {
    const pages = await Promise.all(positions.map((after) => reader.read(after)));
    expect(pages.map(({ text }) => text.match(/^id: \d+/m)?.[0])).toEqual(['id: 3', 'id: 5', 'id: 7', 'id: 9']);
  }
  expect(state.queries).toBe(positions.length);
  append();
  for (const after of positions) expect(await reader.read(after)).toMatchObject({ last: 11 });
  expect(state.queries).toBe(2 * positions.length);
});

it('keeps the page that most watchers read while others read from many positions', async () => {
  const { feed, state, append } = startFeed();
  append(100);
  using reader = feed.watch(owner, 'job_1');
  for (let after = 0; after < 30; after += 1) {
    await reader.read(99);
    await reader.read(after);
  }
  expect(state.queries).toBe(31);
  // of those, only the newest are kept
  await reader.read(29);
  await reader.read(22);
  expect(state.queries).toBe(32);
});

it('queries again after a change, even one during the query', async () => {
  const { feed, state, append } = startFeed();
  using reader = feed.watch(owner, 'job_1');
  const reading = reader.read(0);
  append();
  expect(await reading).toMatchObject({ last: 0 });
  await reader.changed(signal);
  expect(await reader.read(0)).toMatchObject({ last: 1 });
  expect(state.queries).toBe(2);
});

it('does not cache a failed query', async () => {
  const { feed, state } = startFeed();
  using reader = feed.watch(owner, 'job_1');
  state.problem = new Error('The database is down.');
  await expect(reader.read(0)).rejects.toThrow('The database is down.');
  state.problem = null;
  expect(await reader.read(0)).toMatchObject({ last: 0 });
});

it('shares nothing between organizations', async () => {
  const { feed, state } = startFeed();
  using mine = feed.watch(owner, 'job_1');
  using theirs = feed.watch({ organizationId: 'org_2' }, 'job_1');
  await Promise.all([mine.read(0), theirs.read(0)]);
  expect(state.queries).toBe(2);
});

it('serves many watchers over several turns of the event loop', async () => {
  const { feed } = startFeed();
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all(Array.from({ length: 1_000 }, () => feed.watch(owner, 'job_1').read(0)));
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(9);
});
