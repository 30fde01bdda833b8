import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { createThreadStore, type RecordedTurn } from '../../../db/threads.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { seedSite } from './seed.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

function turnOf(
  thread: { threadId: string; siteId: string; organizationId: string },
  question = newId('msg_'),
): RecordedTurn {
  return {
    ...thread,
    fp: 'anonymous',
    question: { id: question, content: 'How?\0', currentPath: '/install' },
    answer: {
      id: newId('msg_'),
      content: 'So.',
      sources: [{ id: 's1', url: '/install', title: 'Install \ud800', path: '/install' }],
      model: 'offline/extract',
      answered: true,
      ending: 'finished',
      firstTokenMs: 1.5,
      durationMs: 20.4,
    },
  };
}

it('continues a thread of the same site, and begins a fresh one for any other id', async () => {
  const threads = createThreadStore(database.pool);
  const site = await seedSite(database.pool);
  const owner = { siteId: site.id, organizationId: site.organizationId };
  const { threadId, isNew } = await threads.resolve({ threadId: null, ...owner });
  expect(isNew).toBe(true);
  expect(await threads.get(site.organizationId, threadId)).toBeNull();
  await threads.recordTurn(turnOf({ threadId, ...owner }));
  expect(await threads.resolve({ threadId, ...owner })).toEqual({ threadId, isNew: false });

  const other = await seedSite(database.pool);
  const foreign = { siteId: other.id, organizationId: other.organizationId };
  for (const asked of [
    { threadId, ...foreign },
    { threadId, siteId: other.id, organizationId: site.organizationId },
    { threadId: 'a\0b', ...owner },
    { threadId: 'x'.repeat(3_000), ...owner },
  ]) {
    const answer = await threads.resolve(asked);
    expect(answer.isNew).toBe(true);
    expect(answer.threadId).not.toBe(asked.threadId);
  }
  // a turn under another one's thread id is not written
  await threads.recordTurn(turnOf({ threadId, ...foreign }));
  expect((await threads.get(site.organizationId, threadId))?.messages).toHaveLength(2);
});

it('keeps the messages in the order they were said, each question once', async () => {
  const threads = createThreadStore(database.pool);
  const site = await seedSite(database.pool);
  const thread = { threadId: newId('thr_'), siteId: site.id, organizationId: site.organizationId };
  const turns = [turnOf(thread, 'q1'), turnOf(thread, 'q2'), turnOf(thread, 'q2')];
  for (const turn of turns) await threads.recordTurn(turn);
  const stored = await threads.get(site.organizationId, thread.threadId);
  expect(stored?.messages.map(({ id }) => id)).toEqual([
    'q1',
    turns[0]!.answer.id,
    'q2',
    turns[1]!.answer.id,
    turns[2]!.answer.id,
  ]);
  expect(stored?.messages.slice(0, 2)).toEqual([
    {
      id: 'q1',
      role: 'user',
      content: 'How?\uFFFD',
      sources: [],
      answered: null,
      feedback: null,
      createdAt: expect.any(Date),
    },
    {
      id: turns[0]!.answer.id,
      role: 'assistant',
      content: 'So.',
      sources: [{ id: 's1', url: '/install', title: 'Install \uFFFD', path: '/install' }],
      answered: true,
      feedback: null,
      createdAt: expect.any(Date),
    },
  ]);
  // an id of the client's is its own within its thread only
  const elsewhere = { ...thread, threadId: newId('thr_') };
  await threads.recordTurn(turnOf(elsewhere, 'q1'));
  expect((await threads.get(site.organizationId, elsewhere.threadId))?.messages).toHaveLength(2);
});

it('keeps turns of one new thread that end at once next to each other', async () => {
  const threads = createThreadStore(database.pool);
  const site = await seedSite(database.pool);
  const thread = { threadId: newId('thr_'), siteId: site.id, organizationId: site.organizationId };
  await Promise.all(Array.from({ length: 6 }, () => threads.recordTurn(turnOf(thread))));
  const stored = await threads.get(site.organizationId, thread.threadId);
  expect(stored?.messages.map(({ role }) => role)).toEqual(
    Array.from({ length: 6 }, () => ['user', 'assistant']).flat(),
  );
});

it('shows and removes a thread to its organization only', async () => {
  const threads = createThreadStore(database.pool);
  const site = await seedSite(database.pool);
  const other = await seedSite(database.pool);
  const threadId = newId('thr_');
  await threads.recordTurn(turnOf({ threadId, siteId: site.id, organizationId: site.organizationId }));
  expect(await threads.get(other.organizationId, threadId)).toBeNull();
  expect(await threads.remove(other.organizationId, threadId)).toBe(false);
  expect(await threads.remove(site.organizationId, threadId)).toBe(true);
  expect(await threads.remove(site.organizationId, threadId)).toBe(false);
  const { rows } = await database.pool.query('select from thread_messages where thread_id = $1', [threadId]);
  expect(rows).toHaveLength(0);
});

it('opens a thread before its first answer has ended, unless its site keeps nothing', async () => {
  const threads = createThreadStore(database.pool);
  const open = async (site: { retentionDays?: number } = {}) => {
    const { id: siteId, organizationId } = await seedSite(database.pool, site);
    const owner = { siteId, organizationId };
    const { threadId } = await threads.resolve({ threadId: null, ...owner });
    await threads.open({ threadId, fp: 'anonymous', ...owner });
    return { ...(await threads.resolve({ threadId, ...owner })), opened: threadId, owner };
  };
  const { isNew, threadId, opened, owner } = await open();
  expect({ isNew, threadId }).toEqual({ isNew: false, threadId: opened });
  await threads.recordTurn(turnOf({ threadId, ...owner }));
  expect((await threads.get(owner.organizationId, threadId))?.messages).toHaveLength(2);
  expect((await open({ retentionDays: 0 })).isNew).toBe(true);
});

it('stores nothing for a site that keeps nothing, and sweeps what is older than its site keeps', async () => {
  const threads = createThreadStore(database.pool);
  const silent = await seedSite(database.pool, { retentionDays: 0 });
  const unkept = newId('thr_');
  await threads.recordTurn(turnOf({ threadId: unkept, siteId: silent.id, organizationId: silent.organizationId }));
  expect(await threads.get(silent.organizationId, unkept)).toBeNull();

  const [brief, long] = [await seedSite(database.pool, { retentionDays: 1 }), await seedSite(database.pool)];
  const record = async ({ id, organizationId }: { id: string; organizationId: string }, days: number) => {
    const thread = { threadId: newId('thr_'), siteId: id, organizationId };
    await threads.recordTurn(turnOf(thread));
    await database.pool.query(`update threads set updated_at = now() - make_interval(days => $2) where id = $1`, [
      thread.threadId,
      days,
    ]);
    return { organizationId, threadId: thread.threadId };
  };
  const gone = [await record(brief, 2), await record(long, 31)];
  const kept = [await record(brief, 0), await record(long, 29)];
  expect(await threads.sweep()).toBe(2);
  for (const each of gone) expect(await threads.get(each.organizationId, each.threadId)).toBeNull();
  for (const each of kept) expect(await threads.get(each.organizationId, each.threadId)).not.toBeNull();
});
