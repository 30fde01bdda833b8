import { expect, it } from 'vitest';
import { createPageNetwork } from '../../../activities/tools/fetch/fetch-page.ts';
import type { ThreadSource } from '../../../db/sites/site-sources.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { reply } from '../../support/forges/json-server.ts';
import { startForumServer, type FakeTopic } from '../../support/forges/thread-server.ts';
import { startThreadSite } from './thread-scene.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const slow = { tags: ['slow'], timeout: 120_000 };
type Source = Extract<ThreadSource, { kind: 'discourse' }>;

interface Options {
  source?: Partial<Source>;
  path?: string;
  limits?: object;
  hasDocs?: boolean;
  isPublicOnly?: boolean;
  secrets?: string[];
  pageSize?: number;
}

/** A forum, and a site with its topics below `forum`. */
async function startForum(
  topics: Record<number, FakeTopic>,
  { source, path = '/forum', isPublicOnly = false, pageSize, ...options }: Options = {},
) {
  await using resources = new AsyncDisposableStack();
  const server = resources.use(await startForumServer(topics, { pageSize }));
  const hosts = isPublicOnly ? [] : [server.host];
  const site = resources.use(
    await startThreadSite<Source>(database, {
      ...options,
      change: { pages: createPageNetwork({ hosts, privateHosts: hosts }) },
      source: {
        kind: 'discourse',
        url: `${server.origin}${path}`,
        prefix: 'forum',
        weight: 0.5,
        threads: 'answered',
        tags: [],
        ...source,
      },
    }),
  );
  const running = resources.move();
  return { ...site, server, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** A topic with an accepted answer, about a word. */
const solved = (word: string, more: Partial<FakeTopic> = {}): FakeTopic => ({
  title: `About the ${word}`,
  posts: [
    { cooked: `<p>Where does the ${word} live?</p>` },
    { cooked: `<p>The ${word} lives by the river.</p>`, isAccepted: true },
  ],
  bumpedAt: 1,
  ...more,
});
const unsolved = (word: string, more: Partial<FakeTopic> = {}) =>
  solved(word, { posts: [{ cooked: `<p>Where is the ${word}?</p>` }, { cooked: '<p>Who knows.</p>' }], ...more });

it.each(['one', 'many'] as const)('has solved topics as pages, the answer first (%s accepted)', slow, async (kind) => {
  const late = Array.from({ length: 30 }, (_, at) => ({ cooked: `<p>Reply ${at}.</p>`, isAccepted: at === 27 }));
  await using site = await startForum({
    1: solved('badger', {
      posts: [
        { cooked: '<p>Where does the badger live?</p>' },
        { cooked: '<p>I wonder, too.</p>', isStaff: true },
        { cooked: '<p>Spam.</p>', isHidden: true },
        { cooked: '<p>(post deleted by author)</p>', isDeletedByUser: true },
        { cooked: '<p>Staff only: ban him.</p>', type: 4 },
        { cooked: '', type: 3 },
        { cooked: '<p>The badger digs.</p>', isAccepted: true },
        { cooked: '<p>Thanks!</p>', username: 'asker' },
      ],
    }),
    2: unsolved('otter'),
    3: solved('walrus', { isVisible: false }),
    4: solved('lynx', { archetype: 'private_message' }),
    5: solved('crane', { posts: [{ cooked: '<p>Where does the crane live?</p>' }, ...late] }),
  });
  site.server.solved = kind;
  expect(await site.index()).toMatchObject({ pages: 2 });
  expect(await site.find('badger')).toEqual(['About the badger']);
  for (const word of ['otter', 'walrus', 'lynx']) expect(await site.find(word)).toEqual([]);
  expect(await site.read('1')).toBe(
    [
      'Where does the badger live?',
      '## Accepted answer\n\nThe badger digs.',
      '## Answer by a maintainer\n\nI wonder, too.',
      '## Follow-up\n\nThanks!',
    ].join('\n\n'),
  );
  expect(await site.read('5')).toMatch(
    /^Where does the crane live\?\n\n## Accepted answer\n\nReply 27\.\n\n## Answer\n\nReply 0\./,
  );
  expect(await site.report()).toMatchObject({ pages: 2, problem: null, skipped: [] });
  expect(site.server.requests.every(({ authorization }) => authorization === null)).toBe(true);
});

it('has all topics, those of a category, or those with a tag, by setting', slow, async () => {
  await using site = await startForum(
    {
      1: solved('badger', { category: 6, tags: ['faq', 'install'] }),
      2: unsolved('otter', { category: 6, tags: [{ id: 1, name: 'faq', slug: 'faq' }] }),
      3: solved('walrus', { category: 7 }),
    },
    { path: '/forum/c/support/6' },
  );
  expect(await site.index()).toMatchObject({ pages: 1 });
  await site.change({ threads: 'all' });
  expect(await site.index()).toMatchObject({ pages: 2 });
  await site.change({ threads: 'all', tags: ['install'] });
  expect(await site.index()).toMatchObject({ pages: 1 });
  await site.change({ url: `${site.server.origin}/forum/` });
  expect(await site.index()).toMatchObject({ pages: 2 });
  expect(await site.find('walrus')).toEqual(['About the walrus']);
});

it('says that a forum does not mark answers', slow, async () => {
  await using site = await startForum({ 1: unsolved('badger') });
  site.server.solved = 'none';
  expect(await site.failure()).toMatchObject({
    message: `${site.server.host} does not mark accepted answers. Set threads to all.`,
  });
});

it('reads only topics that have changed, and drops what is gone', slow, async () => {
  const many = Array.from({ length: 12 }, (_, at) => [at + 1, solved(`bird${at}`, { bumpedAt: at })]);
  await using site = await startForum(
    { ...Object.fromEntries(many), 50: solved('pinned', { bumpedAt: -9, isPinned: true }) },
    { pageSize: 5 },
  );
  const { topics } = site.server;
  expect(await site.index()).toMatchObject({ version: 1, pages: 13 });
  expect(site.server.asked().filter((path) => /latest/.test(path))).toHaveLength(1 + 3);
  expect(await site.index()).toMatchObject({ version: 1, changedPages: 0 });
  expect(site.server.asked()).toEqual([expect.stringMatching(/page=0$/), expect.stringMatching(/page=0$/)]);

  topics.set(7, solved('crane', { bumpedAt: 100 }));
  topics.set(8, unsolved('bird7', { bumpedAt: 101 }));
  topics.delete(2);
  // solved without moving up
  topics.set(
    3,
    solved('bird2', { bumpedAt: 2, posts: [...solved('bird2').posts, { cooked: '<p>It has nests.</p>' }] }),
  );
  expect(await site.index()).toMatchObject({ version: 2, pages: 12 });
  expect(site.server.asked().filter((path) => /\/t\//.test(path))).toEqual(['/forum/t/7.json']);
  expect(await site.find('crane')).toEqual(['About the crane']);
  expect(await site.find('bird7')).not.toContain('About the bird7');
  await site.relist();
  expect(await site.index()).toMatchObject({ version: 3, pages: 11 });
  expect(await site.find('bird1')).not.toContain('About the bird1');
  expect(await site.read('3')).toMatch(/It has nests/);
});

it.each([true, false])(
  'takes the pages away when only members may see them (beside documents: %s)',
  slow,
  async (hasDocs) => {
    await using site = await startForum({ 1: solved('badger') }, { hasDocs });
    await site.index();
    site.server.isLoginRequired = true;
    expect(await site.index()).toMatchObject({ version: 2, pages: hasDocs ? 1 : 0 });
    expect(await site.find('badger')).toEqual([]);
    expect((await site.report())?.problem).toMatch(/are not public, and Docket reads only public topics\.$/);
  },
);

it('loses a topic that became private or was deleted while it is read', slow, async () => {
  await using site = await startForum({ 1: solved('badger'), 2: solved('otter', { bumpedAt: 2 }) });
  site.server.interrupt = (request, response) => {
    if (request.url !== '/forum/t/2.json') return false;
    return (reply(response, 403, { errors: ['no'], error_type: 'invalid_access' }), true);
  };
  expect(await site.index()).toMatchObject({ pages: 1 });
  expect(await site.find('otter')).toEqual([]);
});

it('waits when it is asked to, and stays as it was while the forum fails', slow, async () => {
  let busy = 1;
  await using site = await startForum({ 1: solved('badger') });
  site.server.interrupt = (request, response) => {
    if (!/\/t\/1/.test(request.url ?? '') || busy-- <= 0) return false;
    return (reply(response, 429, { errors: ['slow down'], error_type: 'rate_limit' }, { 'retry-after': '1' }), true);
  };
  expect(await site.index()).toMatchObject({ pages: 1 });
  const failing: [status: number, body: object, problem: RegExp][] = [
    [429, {}, /answered 429/],
    [500, {}, /answered 500/],
    // a wall in front of the forum
    [403, {}, /answered 403/],
    [302, {}, /redirects to another address\. Set the URL/],
    [200, { topics: [] }, /did not come from its API/],
  ];
  for (const [status, body, problem] of failing) {
    site.server.interrupt = (_request, response) => (
      reply(response, status, body, { location: 'http://127.0.0.1:1/', 'retry-after': '3600' }),
      true
    );
    expect(await site.index()).toMatchObject({ version: 1, pages: 1 });
    expect((await site.report())?.problem).toMatch(problem);
  }
  expect(await site.find('badger')).toEqual(['About the badger']);
});

it('does not reach private addresses unless the operator names the host', slow, async () => {
  await using site = await startForum({ 1: solved('badger') }, { isPublicOnly: true });
  expect(await site.failure()).toMatchObject({ message: expect.stringMatching(/leads to a private address/) });
  expect(site.server.asked()).toEqual([]);
});

it('makes what strangers write harmless', slow, async () => {
  const secret = 'a-secret-of-the-worker-0123456789';
  const cooked = [
    '<script>alert(1)</script><p onclick="alert(2)">Inline <b>bold</b> and snake_case_name.</p>',
    '<h1>Heading</h1><p><a href="javascript:alert(3)">run</a> <a href="/t/other/9">topic</a></p>',
    '<p><img src="https://tracker.test/p.png" alt="pixel"> <a href="https://site.test/a">site</a></p>',
    '<aside class="quote"><div class="title"><div class="quote-controls"></div>villain:</div><blockquote><p>Quoted.</p></blockquote></aside>',
    '<div class="lightbox-wrapper"><a class="lightbox" href="/x.png"><img alt="shot" src="/x.png"><div class="meta">x.png 9 KB</div></a></div>',
    '<pre><code class="lang-html">&lt;script&gt;kept in code&lt;/script&gt;</code></pre>',
    `<p>${secret} ${[...secret].join('<b></b>')} ghp_${'a1'.repeat(18)}</p>`,
  ].join('\n');
  const title = `About <b>${secret}</b> badger`;
  const posts = [{ cooked }, { cooked: '<p>Yes, the badger.</p>', isAccepted: true }];
  await using site = await startForum({ 1: solved('badger', { title, posts }) }, { secrets: [secret] });
  expect(await site.index()).toMatchObject({ pages: 1 });
  const body = (await site.read('1')) ?? '';
  expect(body).not.toMatch(/alert|onclick|tracker\.test|javascript:|villain|9 KB|ghp_a1|<b>/);
  expect(body).not.toContain(secret);
  for (const kept of [
    '### Heading',
    'pixel',
    '[site](https://site.test/a)',
    `[topic](${site.server.origin}/t/other/9)`,
    '> Quoted.',
    'shot',
    'snake_case_name',
    '<script>kept in code</script>',
  ])
    expect(body).toContain(kept);
});

it('reads on beside topics that are too long or nested too deeply, and ends at its limits', slow, async () => {
  const huge = `<p>${'x'.repeat(9_000_000)}</p>`;
  await using site = await startForum(
    {
      1: solved('badger', { bumpedAt: 9 }),
      2: solved('otter', { posts: [{ cooked: huge }, { cooked: '<p>Yes.</p>', isAccepted: true }], bumpedAt: 8 }),
      3: solved('lynx', {
        posts: [{ cooked: '<blockquote>'.repeat(800) }, { cooked: '<p>Yes.</p>', isAccepted: true }],
        bumpedAt: 7,
      }),
      4: solved('crane', { bumpedAt: 6 }),
      5: solved('finch', { bumpedAt: 5 }),
    },
    { limits: { threads: 4 } },
  );
  await site.index();
  for (const word of ['badger', 'crane']) expect(await site.find(word)).toEqual([`About the ${word}`]);
  const { skipped } = (await site.report()) ?? { skipped: [] };
  expect(skipped.join(' ')).toMatch(/t\/about-the-otter\/2 is too long\./);
  expect(skipped.join(' ')).toMatch(/Only the first 4 threads/);
});

it.each([30, 0])('ends the list of a forum that never ends, with %i topics on a page', slow, async (length) => {
  await using site = await startForum({ 1: solved('badger') }, { limits: { entries: 300 } });
  let page = 0;
  site.server.interrupt = (request, response) => {
    if (!/latest/.test(request.url ?? '')) return false;
    const at = page++;
    const topics = Array.from({ length }, (_, one) => ({
      id: 1_000 + at * 30 + one,
      title: 'Flood',
      posts_count: 1,
      bumped_at: '2026-01-01T00:00:00Z',
      has_accepted_answer: false,
    }));
    return (reply(response, 200, { topic_list: { topics, more_topics_url: '/latest?page=next' } }), true);
  };
  await site.failure();
  expect(page).toBeLessThan(15);
});
