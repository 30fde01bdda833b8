import { expect, it } from 'vitest';
import { operatorOf, type SiteRef } from '../../../../db/caller.ts';
import { newId } from '../../../../db/ids.ts';
import { createSweeps } from '../../../../db/for-service/sweeps.ts';
import { createThreadStore, type RecordedTurn, type Thread } from '../../../../db/sites/threads.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { seedSite } from '../seed.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);

function turnOf(threadId: string, question = newId('msg_')): RecordedTurn {
  return {
    threadId,
    question: { id: question, content: 'How?\0', currentPath: '/install', searchQuery: 'How to install?' },
    answer: {
      id: newId('msg_'),
      content: 'So.',
      sources: [{ id: 's1', url: '/install', title: 'Install \ud800', path: '/install' }],
      model: 'offline/extract',
      answered: true,
      ending: 'finished',
      firstTokenMs: 1.5,
      durationMs: 20.4,
      costMicros: 7,
      location: { topic: 'guides\0', version: null, language: 'en' },
    },
  };
}

async function openThread(site: SiteRef, threadId = newId('thr_')): Promise<string> {
  await createThreadStore(database.pool).open(site, { threadId, fp: 'anonymous' });
  return threadId;
}

it('continues a thread of the same site, and starts a new one for any other id', async () => {
  const threads = createThreadStore(database.pool);
  const site = await seedSite(database.pool);
  const { threadId, isNew } = await threads.resolve(site, null);
  expect(isNew).toBe(true);
  expect(await threads.get(site, threadId)).toBeNull();
  await openThread(site, threadId);
  await threads.recordTurn(site, turnOf(threadId));
  expect(await threads.resolve(site, threadId)).toEqual({ threadId, isNew: false });

  const other = await seedSite(database.pool);
  const mixed = { id: site.id, organizationId: other.organizationId };
  for (const [at, asked] of [
    [other, threadId],
    [mixed, threadId],
    [{ id: other.id, organizationId: site.organizationId }, threadId],
    [site, 'a\0b'],
    [site, 'x'.repeat(3_000)],
  ] as const) {
    const answer = await threads.resolve(at, asked);
    expect(answer.isNew).toBe(true);
    expect(answer.threadId).not.toBe(asked);
  }
  // a turn with the thread id of another one is not stored
  for (const at of [other, mixed]) await threads.recordTurn(at, turnOf(threadId));
  expect((await threads.get(site, threadId))?.messages).toHaveLength(2);
});

it('keeps messages in order, and each question once', async () => {
  const threads = createThreadStore(database.pool);
  const site = await seedSite(database.pool);
  const threadId = await openThread(site);
  const turns = [turnOf(threadId, 'q1'), turnOf(threadId, 'q2'), turnOf(threadId, 'q2')];
  for (const turn of turns) await threads.recordTurn(site, turn);
  const stored = await threads.get(site, threadId);
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
      currentPath: '/install',
      searchQuery: 'How to install?',
      sources: [],
      answered: null,
      feedback: null,
      createdAt: expect.any(Date),
    },
    {
      id: turns[0]!.answer.id,
      role: 'assistant',
      content: 'So.',
      currentPath: null,
      searchQuery: null,
      sources: [{ id: 's1', url: '/install', title: 'Install \uFFFD', path: '/install' }],
      answered: true,
      feedback: null,
      createdAt: expect.any(Date),
    },
  ]);
  // a client's id is its own only within its thread
  const elsewhere = await openThread(site);
  await threads.recordTurn(site, turnOf(elsewhere, 'q1'));
  expect((await threads.get(site, elsewhere))?.messages).toHaveLength(2);
});

it('keeps turns together when they end at once in a new thread', async () => {
  const threads = createThreadStore(database.pool);
  const site = await seedSite(database.pool);
  const threadId = await openThread(site);
  await Promise.all(Array.from({ length: 6 }, () => threads.recordTurn(site, turnOf(threadId))));
  const stored = await threads.get(site, threadId);
  expect(stored?.messages.map(({ role }) => role)).toEqual(
    Array.from({ length: 6 }, () => ['user', 'assistant']).flat(),
  );
});

it('continues in a new thread when one is full, by messages or bytes, and refuses what ends at once beyond that', async () => {
  const threads = createThreadStore(database.pool);
  const site = await seedSite(database.pool);
  const fill = async (count: number, content: string) => {
    const threadId = await openThread(site);
    for (let at = 0; at < count; at += 1) {
      const turn = turnOf(threadId);
      await threads.recordTurn(site, { ...turn, answer: { ...turn.answer, content } });
    }
    return threadId;
  };
  const continued = async (threadId: string) => (await threads.resolve(site, threadId)).threadId === threadId;
  const nearlyFull = await fill(99, 'So.');
  expect(await continued(nearlyFull)).toBe(true);
  await Promise.all(Array.from({ length: 80 }, () => threads.recordTurn(site, turnOf(nearlyFull))));
  expect(await continued(nearlyFull)).toBe(false);
  const { rows } = await database.pool.query('select from thread_messages where thread_id = $1', [nearlyFull]);
  expect(rows.length).toBe(300);
  expect(await continued(await fill(5, 'ä'.repeat(90_000)))).toBe(true);
  expect(await continued(await fill(6, 'ä'.repeat(90_000)))).toBe(false);
});

it('pages a thread by messages and by bytes, whatever older versions stored in it', async () => {
  const threads = createThreadStore(database.pool);
  const site = await seedSite(database.pool);
  const threadId = await openThread(site);
  await threads.recordTurn(site, turnOf(threadId, 'q'));
  await database.pool.query(
    `insert into thread_messages (thread_id, id, role, content)
     select $1, 'm' || at, 'user', repeat(chr(1), case when at > 700 then 400000 else 1 end) from generate_series(1, 710) as at`,
    [threadId],
  );
  const pages: number[][] = [];
  let after: string | null = '0';
  let all = 0;
  while (after !== null) {
    const page: Thread | null = await threads.get(site, threadId, { after, limit: 200 });
    const { messages, nextAfter } = page!;
    pages.push([messages.length, messages.reduce((sum, { content }) => sum + content.length, 0)]);
    all += messages.length;
    after = nextAfter;
  }
  expect(all).toBe(712);
  expect(pages.length).toBeGreaterThan(5);
  for (const [count, bytes] of pages) {
    expect(count).toBeLessThanOrEqual(200);
    expect(bytes).toBeLessThan(1_400_001);
  }
});

it('shows and deletes a thread only for its organization', async () => {
  const threads = createThreadStore(database.pool);
  const site = await seedSite(database.pool);
  const other = await seedSite(database.pool);
  const threadId = await openThread(site);
  await threads.recordTurn(site, turnOf(threadId));
  const foreign = { id: site.id, organizationId: other.organizationId };
  const sibling = await seedSite(database.pool, { organizationId: site.organizationId });
  for (const at of [other, foreign, sibling]) {
    expect(await threads.get(at, threadId)).toBeNull();
    expect(await threads.remove(operatorOf(at), at.id, threadId)).toBe(false);
  }
  expect(await threads.remove(operatorOf(site), site.id, threadId)).toBe(true);
  expect(await threads.remove(operatorOf(site), site.id, threadId)).toBe(false);
  const { rows } = await database.pool.query('select from thread_messages where thread_id = $1', [threadId]);
  expect(rows).toHaveLength(0);
});

it('creates a thread before its first answer has ended, unless its site stores nothing', async () => {
  const threads = createThreadStore(database.pool);
  const open = async (change: { retentionDays?: number } = {}) => {
    const site = await seedSite(database.pool, change);
    const { threadId } = await threads.resolve(site, null);
    await threads.open(site, { threadId, fp: 'anonymous' });
    return { ...(await threads.resolve(site, threadId)), opened: threadId, site };
  };
  const { isNew, threadId, opened, site } = await open();
  expect({ isNew, threadId }).toEqual({ isNew: false, threadId: opened });
  await threads.recordTurn(site, turnOf(threadId));
  expect((await threads.get(site, threadId))?.messages).toHaveLength(2);
  expect((await open({ retentionDays: 0 })).isNew).toBe(true);
});

it('stores nothing of a conversation that was deleted while it was being answered', async () => {
  const threads = createThreadStore(database.pool);
  const site = await seedSite(database.pool);
  const threadId = await openThread(site);
  await threads.recordTurn(site, turnOf(threadId));
  expect(await threads.remove(operatorOf(site), site.id, threadId)).toBe(true);
  await threads.recordTurn(site, turnOf(threadId));
  expect(await threads.get(site, threadId)).toBeNull();
});

it('stores nothing for a site without retention, and sweeps what is older than its site’s retention', async () => {
  const threads = createThreadStore(database.pool);
  const silent = await seedSite(database.pool, { retentionDays: 0 });
  const unkept = await openThread(silent);
  await threads.recordTurn(silent, turnOf(unkept));
  expect(await threads.get(silent, unkept)).toBeNull();

  const [brief, long] = [await seedSite(database.pool, { retentionDays: 1 }), await seedSite(database.pool)];
  const record = async (site: SiteRef, days: number) => {
    const threadId = await openThread(site);
    await threads.recordTurn(site, turnOf(threadId));
    await database.pool.query(`update threads set updated_at = now() - make_interval(days => $2) where id = $1`, [
      threadId,
      days,
    ]);
    return { site, threadId };
  };
  const gone = [await record(brief, 2), await record(long, 31)];
  const kept = [await record(brief, 0), await record(long, 29)];
  expect(await createSweeps(database.pool).threads()).toBe(2);
  for (const each of gone) expect(await threads.get(each.site, each.threadId)).toBeNull();
  for (const each of kept) expect(await threads.get(each.site, each.threadId)).not.toBeNull();
});
