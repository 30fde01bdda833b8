import { expect, it } from 'vitest';
import { createTestDatabase } from '../../support/database/database.ts';
import { reply, token } from '../../support/forges/json-server.ts';
import { startDiscussionServer, type FakeDiscussion } from '../../support/forges/thread-server.ts';
import { startForgeSite, type ForgeSiteOptions } from './thread-scene.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const slow = { tags: ['slow'], timeout: 120_000 };

interface Options extends ForgeSiteOptions {
  hasToken?: boolean;
  pageSize?: number;
}

/** GitHub, and a site with its discussions below `discussions`. */
async function startDiscussions(
  discussions: Record<number, FakeDiscussion>,
  { hasToken = true, pageSize, ...options }: Options = {},
) {
  const server = await startDiscussionServer(discussions, { pageSize });
  const github = { apiUrl: server.origin, token: hasToken ? token : null, app: null };
  return startForgeSite(database, { server, kind: 'discussions', servers: { github } }, options);
}

/** A discussion with an accepted answer, about a word. */
const answered = (word: string, more: Partial<FakeDiscussion> = {}): FakeDiscussion => ({
  title: `About the ${word}`,
  body: `Where does the ${word} live?`,
  comments: [{ body: `The ${word} lives by the river.`, isAnswer: true }],
  changedAt: 1,
  ...more,
});

it('are pages with the accepted answer first', slow, async () => {
  await using site = await startDiscussions({
    1: answered('badger', {
      labels: ['faq', 'setup'],
      comments: [
        { body: 'I wonder, too.', isMaintainer: true, replies: [{ body: 'Me, the asker.', author: 'asker' }] },
        { body: 'Buy my pills!', isMinimized: true },
        { body: 'Stale.', isBot: true },
        { body: 'The badger digs.', isAnswer: true },
      ],
    }),
    2: answered('otter', { comments: [{ body: 'Nobody knows.' }] }),
    3: answered('walrus', { comments: [{ body: 'I found it myself.', author: 'asker', isAnswer: true }] }),
  });
  expect(await site.index()).toMatchObject({ pages: 2 });
  expect(await site.find('badger')).toEqual(['About the badger']);
  expect(await site.find('otter')).toEqual([]);
  expect(await site.find('walrus')).toEqual(['About the walrus']);
  expect(await site.read('1')).toBe(
    [
      'Where does the badger live?',
      '## Accepted answer\n\nThe badger digs.',
      '## Answer by a maintainer\n\nI wonder, too.',
      '## Follow-up\n\nMe, the asker.',
    ].join('\n\n'),
  );
  expect(await site.report()).toMatchObject({ pages: 2, problem: null, skipped: [] });
  // without the token, only whether everybody may see them is asked
  expect(site.server.requests.map(({ path, authorization }) => [path, authorization])).toEqual([
    ['/repos/acme/docs', null],
    ...Array.from({ length: 3 }, () => ['/graphql', `Bearer ${token}`]),
  ]);
  await site.change({ threads: 'all' });
  expect(await site.index()).toMatchObject({ pages: 3 });
  await site.change({ threads: 'all', labels: ['faq'] });
  expect(await site.index()).toMatchObject({ pages: 1 });
});

it('are read again only when they have changed, and drop what is gone', slow, async () => {
  const many = Array.from({ length: 8 }, (_, at) => [at + 1, answered(`bird${at}`, { changedAt: at })]);
  await using site = await startDiscussions(Object.fromEntries(many), { pageSize: 3 });
  const { discussions } = site.server;
  const queries = () => site.server.requests.splice(0).filter(({ path }) => path === '/graphql');
  expect(await site.index()).toMatchObject({ version: 1, pages: 8 });
  expect(queries()).toHaveLength(3 + 8);
  expect(await site.index()).toMatchObject({ version: 1, changedPages: 0 });
  expect(queries()).toHaveLength(1);

  discussions.set(7, answered('crane', { changedAt: 100 }));
  discussions.set(8, answered('bird7', { changedAt: 101, comments: [{ body: 'No, it was wrong.' }] }));
  discussions.delete(2);
  expect(await site.index()).toMatchObject({ version: 2, pages: 7 });
  expect(queries()).toHaveLength(1 + 1);
  expect(await site.find('crane')).toEqual(['About the crane']);
  expect(await site.find('bird7')).not.toContain('About the bird7');
  await site.relist();
  expect(await site.index()).toMatchObject({ version: 3, pages: 6 });
  expect(await site.find('bird1')).not.toContain('About the bird1');
  await site.relist();
  queries();
  await site.index();
  expect(queries()).toHaveLength(2);
  // threads as an earlier release read them
  await database.pool.query(`update source_threads set changed_at = regexp_replace(changed_at, '^[0-9]+ ', '0 ')`);
  await site.relist();
  await site.index();
  expect(queries()).toHaveLength(2 + 6);
});

it('that are not public are read only for groups', slow, async () => {
  await using site = await startDiscussions({ 1: answered('badger') });
  await site.index();
  expect(await site.find('badger', [])).toEqual(['About the badger']);
  site.server.repository.private = true;
  expect(await site.index()).toMatchObject({ pages: 0 });
  expect(await site.find('badger')).toEqual([]);
  expect((await site.report())?.problem).toMatch(/^The discussions on GitHub are not public\. Name the groups/);
  await site.change({ groups: ['staff'] });
  expect(await site.index()).toMatchObject({ pages: 1 });
  expect(await site.find('badger', [])).toEqual([]);
  expect(await site.find('badger', ['staff'])).toEqual(['About the badger']);
  await site.change({ groups: [] });
  Object.assign(site.server.repository, { private: false, has_discussions: false });
  expect(await site.index()).toMatchObject({ pages: 0 });
  expect((await site.report())?.problem).toBe('The repository has no discussions on GitHub.');
});

it('need a token', slow, async () => {
  await using site = await startDiscussions({ 1: answered('badger') }, { hasToken: false });
  const message = expect.stringMatching(/^GitHub shows discussions only to requests with a token\. Give a project/);
  expect(await site.failure()).toMatchObject({ type: 'site_unreadable', message });
  expect(site.server.asked()).toEqual(['/repos/acme/docs']);
});

it('stay as they were while GitHub fails, and say why', slow, async () => {
  await using site = await startDiscussions({ 1: answered('badger') });
  await site.index();
  const failing: [status: number, body: object, problem: RegExp][] = [
    [200, { errors: [{ type: 'RATE_LIMITED', message: 'limit' }] }, /^GitHub rate-limits this credential/],
    [200, { data: null, errors: [{ message: 'Something went wrong' }] }, /^GitHub could not answer/],
    [200, { data: { repository: null }, errors: [{ type: 'FORBIDDEN', message: 'no' }] }, /may read its discussions/],
    [200, { data: { repository: null }, errors: [{ type: 'NOT_FOUND', message: 'no' }] }, /does not exist on GitHub/],
    [200, { data: { repository: { discussions: [] } } }, /did not come from its API/],
    [302, {}, /has moved/],
    [500, {}, /GitHub answered 500/],
  ];
  for (const [status, body, problem] of failing) {
    site.server.interrupt = ({ method }, response) => {
      if (method !== 'POST') return false;
      const headers = {
        location: 'http://127.0.0.1:1/',
        ...(JSON.stringify(body).includes('LIMITED') && { 'retry-after': '3600' }),
      };
      return (reply(response, status, body, headers), true);
    };
    expect(await site.index()).toMatchObject({ version: 1, pages: 1 });
    expect((await site.report())?.problem).toMatch(problem);
  }
  expect(await site.find('badger')).toEqual(['About the badger']);
});

it('end at their limits, and hide secrets', slow, async () => {
  const secret = 'a-secret-of-the-worker-0123456789';
  const many = Array.from({ length: 6 }, (_, at) => [at + 1, answered(`bird${at}`, { changedAt: at })]);
  await using site = await startDiscussions(
    {
      ...Object.fromEntries(many),
      9: answered('crane', { body: `Is it ${secret}? ${'x'.repeat(9_940)}${secret}`, changedAt: 9 }),
    },
    { limits: { threads: 4 }, secrets: [secret], pageSize: 2 },
  );
  expect(await site.index()).toMatchObject({ pages: 4 });
  expect(await site.report()).toMatchObject({ skipped: ['Only the first 4 threads of the list are indexed.'] });
  const body = await site.read('9');
  expect(body).toMatch(/^Is it \[redacted\]\? x/);
  expect(body).not.toContain('a-secret');
});
