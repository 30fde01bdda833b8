import { rename } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { createPageNetwork } from '../../../activities/tools/fetch/fetch-page.ts';
import { createSiteIndexing } from '../../../db/for-worker/site-indexing.ts';
import { createSiteIndexStore } from '../../../db/sites/site-indexes.ts';
import { publicPages } from '../../../search/query/page-access.ts';
import { createSiteStore } from '../../../db/sites/sites.ts';
import { indexFormat } from '../../../search/query/index-format.ts';
import { indexSiteWorkflowId } from '../../../workflows/contract/messages.ts';
import { buildSite } from '../../support/database/build.ts';
import { operatorOf } from '../../../db/caller.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { startPageServer } from '../../support/servers/page-server.ts';
import { toLoopback } from '../fetch/scene.ts';
import { publishAsOlderFormat, search, startSiteWorker } from './site-worker.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const about = (word: string, title = word) => `# ${title}\n\nThe ${word} waits for the train.\n`;
const many = (folder: string, word: string) =>
  Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`${folder}/${at}.md`, about(word, `${word} ${at}`)]));

it(
  'indexes several sources, keeps the pages of one that fails, and recovers',
  { tags: ['slow'], timeout: 120_000 },
  async () => {
    await using docs = await createTestRepository({
      ...many('docs', 'heron'),
      'docs/blog/old.md': about('walrus'),
      'docs/index.md': about('start'),
    });
    await using blog = await createTestRepository({
      'posts/first.md': `${about('badger')}\nSee [second](/second) and [start](/index).\n`,
      'posts/second.md': about('otter'),
      'posts/second.rst': about('again'),
      'posts/large.md': 'x'.repeat(10 * 1024 * 1024 + 1),
      'posts/api.yaml': 'openapi: 3.1.0\npaths: [\n',
    });
    await using worker = await startSiteWorker({ database });
    const source = { kind: 'repository' as const, repository: blog.path, ref: null, path: 'posts', weight: 2 };
    const site = await buildSite(database.pool, {
      repository: docs.path,
      path: 'docs',
      sources: [{ ...source, prefix: 'blog' }],
    });
    const sites = createSiteIndexing(database.pool);
    const reports = async () => (await sites.get(site.id))?.indexReport?.sources;

    expect(await worker.index(site)).toMatchObject({ version: 1, pages: 15 });
    expect(await search(database, site, 'badger')).toEqual(['badger']);
    // the page of the main source at a path of the blog is left out
    expect(await search(database, site, 'walrus')).toEqual([]);
    const skipped = [
      'Not read: api.yaml.',
      'Not read: large.md (larger than 10 MB).',
      'Not read: second.rst (same page as second.md).',
    ];
    expect(await reports()).toEqual([{ prefix: 'blog', pages: 2, problem: null, skipped }]);
    expect(await worker.index(site)).toMatchObject({ version: 1, changedPages: 0 });

    await rename(blog.path, `${blog.path}.gone`);
    // so much changes that the index would otherwise be built from nothing
    await docs.commit(many('docs', 'crane'));
    expect(await worker.index(site)).toMatchObject({ version: 2, pages: 15, changedPages: 12 });
    expect(await search(database, site, 'crane')).toHaveLength(5);
    expect(await search(database, site, 'badger')).toEqual(['badger']);
    expect(await reports()).toEqual([
      { prefix: 'blog', pages: 2, problem: expect.stringContaining('There is no repository'), skipped: [] },
    ]);
    expect(await sites.get(site.id)).toMatchObject({ indexFailure: null, indexPages: 15 });

    await rename(`${blog.path}.gone`, blog.path);
    await blog.commit({ 'posts/second.md': about('lynx') });
    expect(await worker.index(site)).toMatchObject({ version: 3, pages: 15 });
    expect(await search(database, site, 'lynx')).toEqual(['lynx']);
    expect(await reports()).toEqual([{ prefix: 'blog', pages: 2, problem: null, skipped }]);

    const owner = operatorOf(site);
    await createSiteStore(database.pool).update(owner, site.id, { sources: [] });
    expect(await worker.index(site)).toMatchObject({ pages: 14 });
    expect(await search(database, site, 'badger')).toEqual([]);
    expect(await search(database, site, 'walrus')).toEqual(['walrus']);
  },
);

it(
  'keeps the pages of a source that cannot be read when the format of the index is raised',
  { tags: ['slow'], timeout: 60_000 },
  async () => {
    await using docs = await createTestRepository({ 'start.md': about('heron') });
    await using blog = await createTestRepository({
      'first.md': `---\nversion: 2\nboost: 3\n---\n${about('badger')}`,
      'staff.md': `---\ngroups: [Staff, Board]\n---\n${about('otter')}`,
    });
    await using worker = await startSiteWorker({ database });
    const source = { kind: 'repository' as const, repository: blog.path, ref: null, path: '', weight: 2 };
    const site = await buildSite(database.pool, { repository: docs.path, sources: [{ ...source, prefix: 'blog' }] });
    const found = async () => ({
      public: await search(database, site, 'badger', publicPages),
      strangers: await search(database, site, 'otter', { groups: ['other'] }),
      staff: await search(database, site, 'otter', { groups: ['staff'] }),
    });
    const expected = { public: ['badger'], strangers: [], staff: ['otter'] };
    await worker.index(site);
    expect(await found()).toEqual(expected);

    await publishAsOlderFormat(database, site);
    await rename(blog.path, `${blog.path}.gone`);
    expect(await worker.index(site)).toMatchObject({ version: 3, pages: 3 });
    expect(await found()).toEqual(expected);
    expect((await createSiteIndexStore(database.pool).current(site))?.format).toBe(indexFormat);
    // they are kept as usual from then on, and read in the new way when the source is back
    await docs.commit({ 'start.md': about('crane') });
    expect(await worker.index(site)).toMatchObject({ version: 4, pages: 3, changedPages: 1 });
    expect(await found()).toEqual(expected);
    await rename(`${blog.path}.gone`, blog.path);
    await worker.index(site);
    expect(await found()).toEqual(expected);
    await blog.commit({ 'first.md': about('lynx') });
    expect(await worker.index(site)).toMatchObject({ pages: 3 });
    expect(await search(database, site, 'badger')).toEqual([]);
  },
);

it(
  'reads a site without a main source, and fails when none can be read',
  { tags: ['slow'], timeout: 60_000 },
  async () => {
    await using guides = await createTestRepository({ 'a.md': about('heron'), 'b.md': about('stork') });
    await using worker = await startSiteWorker({ database });
    const source = { kind: 'repository' as const, ref: null, path: '', weight: 1 };
    const site = await buildSite(database.pool, {
      repository: undefined,
      directory: undefined,
      sources: [
        { ...source, repository: guides.path, prefix: '' },
        { ...source, repository: `${guides.path}-none`, prefix: 'none' },
      ],
    });
    expect(await worker.index(site)).toMatchObject({ version: 1, pages: 2 });
    expect(await search(database, site, 'stork')).toEqual(['stork']);
    await rename(guides.path, `${guides.path}.gone`);
    expect(await worker.failure(site)).toMatchObject({ type: 'site_unreadable' });
    expect(await search(database, site, 'stork')).toEqual(['stork']);
  },
);

it('indexes a site while websites of others do not answer', { tags: ['slow'], timeout: 120_000 }, async () => {
  const started = Promise.withResolvers<void>();
  await using hanging = await startPageServer(() => {
    if (hanging.hits.length === 6) started.resolve();
  });
  const network = createPageNetwork({ hosts: [hanging.host], privateHosts: [hanging.host], resolve: toLoopback });
  await using worker = await startSiteWorker({ database, change: () => ({ pages: network }) });
  const sources = [{ kind: 'website', url: hanging.url, prefix: 'docs', weight: 1 } as const];
  const crawled = await Promise.all(Array.from({ length: 6 }, () => buildSite(database.pool, { sources })));
  const runs = crawled.map((site) => worker.index(site).catch(() => null));
  await started.promise;
  await using docs = await createTestRepository({ 'start.md': '# Start\n\nThe crane flies.\n' });
  expect(await worker.index(await buildSite(database.pool, { repository: docs.path }))).toMatchObject({ pages: 1 });
  for (const { id } of crawled) await worker.client.workflow.getHandle(indexSiteWorkflowId(id)).terminate();
  await Promise.all(runs);
});
