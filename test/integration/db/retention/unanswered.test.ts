import { expect, it } from 'vitest';
import { refusalOfStore } from '../../../../api/http/store-refusals.ts';
import { operatorOf } from '../../../../db/caller.ts';
import { createConversationStore } from '../../../../db/sites/conversations.ts';
import { createThreadStore } from '../../../../db/sites/threads.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { seedSite } from '../seed.ts';

it('lists what was unanswered or last voted down, newest first', async () => {
  await using database = await createTestDatabase();
  const site = await seedSite(database.pool);
  const threads = createThreadStore(database.pool);
  const conversations = createConversationStore(database.pool);
  const answers = [
    { name: 'none', answered: false, ending: 'finished' },
    { name: 'broken', answered: false, ending: 'failed' },
    { name: 'up', answered: true, ending: 'finished', votes: ['down', 'up'] },
    { name: 'down', answered: true, ending: 'finished', votes: ['up', 'down', 'down'] },
    { name: 'none-up', answered: false, ending: 'finished', votes: ['down', 'up'] },
    { name: 'good', answered: true, ending: 'finished' },
  ] as const;
  for (const answer of answers) {
    const threadId = `thr_${answer.name}`;
    await threads.open(site, { threadId, fp: answer.name });
    await threads.recordTurn(site, {
      threadId,
      question: { id: 'q', content: answer.name, currentPath: null, searchQuery: null },
      answer: {
        id: 'a',
        content: 'Words.',
        sources: [],
        model: 'm',
        answered: answer.answered,
        ending: answer.ending,
        firstTokenMs: null,
        durationMs: 1,
        costMicros: 0,
        location: { topic: null, version: null, language: null },
      },
    });
    for (const vote of 'votes' in answer ? answer.votes : [])
      await conversations.rate(site, { threadId, messageId: 'a', feedback: { vote, reasons: [], comment: null } });
  }
  const listed = async () => (await conversations.listUnanswered(site, 100)).map(({ text }) => text);
  expect(await listed()).toEqual(['none-up', 'down', 'none']);
  await database.pool.query(
    `update unanswered_messages set created_at = now() - interval '91 days' where thread_id = 'thr_none'`,
  );
  await database.pool.query(`delete from threads where id = 'thr_down'`);
  expect(await listed()).toEqual(['none-up']);
});

it('keeps the questions of anonymous readers through a burst of others', async () => {
  await using database = await createTestDatabase();
  const site = await seedSite(database.pool);
  const ask = async (text: string, { count, minutesApart }: { count: number; minutesApart: number }) => {
    await database.pool.query(
      `with asked as (
         select 'thr_' || $3 || at as id, now() - at * $5::float * interval '1 minute' as at from generate_series(1, $4) as at
       ), opened as (
         insert into threads (id, site_id, organization_id, fp) select id, $1, $2, 'anonymous' from asked
       )
       insert into thread_messages (thread_id, id, role, content, answered, ending, created_at)
       select id, role, role, $3, case role when 'assistant' then false end,
              case role when 'assistant' then 'finished' end, at
       from asked, unnest(array['user', 'assistant']) with ordinality as roles (role, nth) order by at, nth`,
      [site.id, site.organizationId, text, count, minutesApart],
    );
  };
  await ask('real', { count: 600, minutesApart: 60 });
  await ask('junk', { count: 5_000, minutesApart: 0.01 });
  const listed = await createConversationStore(database.pool).listUnanswered(site, 2_000);
  expect(listed).toHaveLength(2_000);
  // real questions in the one or two hours of the burst may be displaced
  expect(listed.filter(({ text }) => text === 'real').length).toBeGreaterThanOrEqual(597);
});

it('excludes what is deleted while readers vote on it', async () => {
  await using database = await createTestDatabase();
  const { pool } = database;
  const site = await seedSite(pool);
  const threads = createThreadStore(pool);
  const conversations = createConversationStore(pool);
  const caller = operatorOf(site);
  const errors: unknown[] = [];
  for (let round = 0; round < 60; round += 1) {
    const threadId = `thr_${round}`;
    await threads.open(site, { threadId, fp: 'f' });
    const turn = (id: string) => ({
      threadId,
      question: { id: `q${id}`, content: 'Why?', currentPath: null, searchQuery: null },
      answer: {
        id,
        content: 'Words.',
        sources: [],
        model: 'm',
        answered: false,
        ending: 'finished' as const,
        firstTokenMs: null,
        durationMs: 1,
        costMicros: 0,
        location: { topic: null, version: null, language: null },
      },
    });
    await threads.recordTurn(site, turn('a'));
    const vote = (vote: 'up' | 'down') =>
      conversations.rate(site, { threadId, messageId: 'a', feedback: { vote, reasons: [], comment: null } });
    const settled = await Promise.allSettled([
      vote('down'),
      vote('up'),
      threads.remove(caller, site.id, threadId),
      vote('down'),
      threads.recordTurn(site, turn('b')),
      vote('up'),
    ]);
    errors.push(...settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])));
  }
  expect(errors.filter((error) => refusalOfStore(error) === null)).toEqual([]);
  expect((await pool.query('select from unanswered_messages')).rowCount).toBe(0);
});
