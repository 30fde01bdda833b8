import { expect, it } from 'vitest';
import { operatorOf } from '../../../db/caller.ts';
import { createSiteRollups } from '../../../db/for-service/site-rollups.ts';
import { newId } from '../../../db/ids.ts';
import { createConversationStore } from '../../../db/sites/conversations.ts';
import { createSiteAnalyticsStore, type SiteAnalytics } from '../../../db/sites/site-analytics.ts';
import { createThreadStore } from '../../../db/sites/threads.ts';
import { buildSite } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { fc, propertyRuns } from '../../support/properties.ts';

const name = fc.constantFrom(null, 'one', 'two');
const turn = fc.record({
  location: fc.record({ topic: name, version: name, language: name }),
  answered: fc.boolean(),
  ending: fc.constantFrom('finished', 'finished', 'failed', 'aborted'),
  costMicros: fc.nat(1_000),
  cited: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }),
  votes: fc.array(fc.constantFrom('up', 'down'), { maxLength: 3 }),
});
const thread = fc.record({
  fp: fc.constantFrom('anonymous', 'reader', 'playground'),
  turns: fc.array(turn, { minLength: 1, maxLength: 3 }),
  isDeleted: fc.boolean(),
});
type Turn = typeof turn extends fc.Arbitrary<infer Value> ? Value : never;
type Thread = typeof thread extends fc.Arbitrary<infer Value> ? Value : never;

/** Counts the conversations one by one, as the documentation describes the figures. */
function counted(threads: Thread[], wanted: (turn: Turn) => boolean) {
  const readers = threads.filter(({ fp }) => fp !== 'playground');
  const turns = readers.flatMap((one) => one.turns).filter(wanted);
  const isAnswered = ({ ending, answered }: Turn) => ending === 'finished' && answered;
  const begun = readers.filter(({ turns: [first] }) => first !== undefined && wanted(first));
  const resolved = begun.filter(
    ({ turns }) => isAnswered(turns.at(-1)!) && turns.every(({ votes }) => votes.at(-1) !== 'down'),
  );
  return {
    answered: turns.filter(isAnswered).length,
    unanswered: turns.filter(({ ending, answered }) => ending === 'finished' && !answered).length,
    interrupted: turns.filter(({ ending }) => ending !== 'finished').length,
    up: turns.filter(({ votes }) => votes.at(-1) === 'up').length,
    down: turns.filter(({ votes }) => votes.at(-1) === 'down').length,
    conversations: begun.length,
    resolved: resolved.length,
    confirmed: resolved.filter(({ turns }) => turns.some(({ votes }) => votes.at(-1) === 'up')).length,
    costMicros: turns.reduce((sum, { costMicros }) => sum + costMicros, 0),
  };
}

function citedOf(threads: Thread[]) {
  const paths = threads
    .filter(({ fp }) => fp !== 'playground')
    .flatMap(({ turns }) => turns.flatMap((one) => one.cited));
  return Object.fromEntries(['a', 'b', 'c'].map((path) => [path, paths.filter((one) => one === path).length]));
}

const sumOf = (points: SiteAnalytics['series'], of: 'answered' | 'costMicros') =>
  points.reduce((sum, point) => sum + point[of], 0);

it(
  'counts exactly what happened, whenever and however often the facts are rolled up, and keeps it after deletions',
  { tags: ['slow'] },
  async () => {
    await using database = await createTestDatabase();
    const { pool } = database;
    const rollups = createSiteRollups(pool);
    const threads = createThreadStore(pool);
    const conversations = createConversationStore(pool);
    const analytics = createSiteAnalyticsStore(pool);
    await fc.assert(
      fc.asyncProperty(fc.array(thread, { minLength: 1, maxLength: 6 }), fc.nat(), async (all, cut) => {
        const site = await buildSite(pool);
        const other = await buildSite(pool, { organizationId: site.organizationId });
        const caller = operatorOf(site);
        for (const [at, { fp, turns, isDeleted }] of all.entries()) {
          if (at === cut % all.length) await Promise.all([rollups.add(), rollups.add()]);
          const threadId = newId('thr_');
          await threads.open(site, { threadId, fp });
          for (const { votes, cited, ...answer } of turns) {
            const messageId = newId('msg_');
            const sources = cited.map((path, id) => ({ id: `${id}`, url: `/${path}`, title: path, path }));
            await threads.recordTurn(site, {
              threadId,
              question: { id: newId('msg_'), content: 'How?', currentPath: null, searchQuery: null },
              answer: { id: messageId, content: 'So.', sources, model: 'm', firstTokenMs: 1, durationMs: 2, ...answer },
            });
            for (const vote of votes) {
              const feedback = { vote, reasons: [], comment: null };
              expect(await conversations.rate(site, { threadId, messageId, feedback })).toBe(true);
            }
          }
          if (isDeleted) await threads.remove(caller, site.id, threadId);
        }
        const expectEqual = async () => {
          for (const [days, bucketSeconds] of [
            [2, 3_600], // midnight may pass
            [7, 3_600],
            [30, 86_400],
          ] as const) {
            const query = { days, bucketSeconds };
            const found = await analytics.read(site, query);
            expect(found.totals).toEqual(counted(all, () => true));
            for (const measure of ['answered', 'costMicros'] as const)
              expect(sumOf(found.series, measure)).toBe(found.totals[measure]);
            for (const [list, kind] of [
              ['topics', 'topic'],
              ['versions', 'version'],
              ['languages', 'language'],
            ] as const)
              for (const { name, ...measures } of found[list])
                expect(measures).toEqual(counted(all, ({ location }) => (location[kind] ?? '') === name));
            expect({
              a: 0,
              b: 0,
              c: 0,
              ...Object.fromEntries(found.cited.map(({ path, cited }) => [path, cited])),
            }).toEqual(citedOf(all));
            const narrow = await analytics.read(site, { ...query, version: 'one', language: '' });
            expect(narrow.totals).toEqual(
              counted(all, ({ location }) => location.version === 'one' && location.language === null),
            );
          }
          expect((await analytics.read(other, { days: 1, bucketSeconds: 3_600 })).totals.answered).toBe(0);
          const foreign = { id: site.id, organizationId: (await buildSite(pool)).organizationId };
          expect((await analytics.read(foreign, { days: 1, bucketSeconds: 3_600 })).totals.conversations).toBe(0);
        };
        await expectEqual();
        await Promise.all([rollups.add(), rollups.add(), rollups.add()]);
        await expectEqual();
        await rollups.sweep();
        await expectEqual();
        expect((await pool.query('select from site_facts')).rowCount).toBe(0);
      }),
      { numRuns: propertyRuns(12) },
    );
  },
);

it('keeps the 500 pages of an ended day that were opened most, and no figures beyond their time', async () => {
  await using database = await createTestDatabase();
  const { pool } = database;
  const rollups = createSiteRollups(pool);
  const site = await buildSite(pool);
  const silent = await buildSite(pool, { organizationId: site.organizationId, retentionDays: 0 });
  const opened = (siteId: string, path: string, times: number) => ({ siteId, path, version: '', language: '', times });
  const pages = Array.from({ length: 510 }, (_, at) => opened(site.id, `page-${at}`, at + 1));
  await rollups.countOpened([...pages, opened(silent.id, 'page', 1), opened('site_gone', 'page', 1)]);
  await pool.query(`update site_facts set at = at - interval '1 day'`);
  await rollups.countOpened([opened(site.id, 'page-0', 7)]);
  await rollups.add();
  await rollups.sweep();
  const { rows } = await pool.query(
    `select site_id, count(*)::integer as count, min(opened)::integer as least from site_page_rollups where opened <> 7 group by 1`,
  );
  expect(rows).toEqual([{ site_id: site.id, count: 500, least: 11 }]);
  const found = await createSiteAnalyticsStore(pool).read(site, { days: 1, bucketSeconds: 3_600 });
  expect(found.opened).toEqual([{ path: 'page-0', cited: 0, opened: 7 }]);
  await pool.query(`
    insert into site_facts (site_id, at, answered) select '${site.id}', now() - days * interval '1 day', 1
    from unnest(array[1, 9, 399, 401]) as days`);
  await rollups.add();
  await pool.query(`update site_page_rollups set day = day - interval '401 days'`);
  const slots = () =>
    pool
      .query('select seconds, count(*)::integer as count from site_rollups group by 1 order by 1')
      .then(({ rows }) => rows);
  expect(await slots()).toEqual([
    { seconds: 3_600, count: 1 },
    { seconds: 86_400, count: 3 },
  ]);
  await pool.query(`update site_rollups set at = at - interval '8 days'`);
  await rollups.sweep();
  expect(await slots()).toEqual([{ seconds: 86_400, count: 2 }]);
  expect((await pool.query('select from site_page_rollups')).rowCount).toBe(0);
});
