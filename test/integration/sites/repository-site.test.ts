import { expect, it } from 'vitest';
import { createSiteIndexing } from '../../../db/for-worker/site-indexing.ts';
import { indexSiteWorkflowId } from '../../../workflows/contract/messages.ts';
import { buildSite } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { recordHistory } from '../../support/database/histories.ts';
import { search, startSiteWorker } from './site-worker.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const docs = {
  'README.md': '# Not a page of the site\n\nThe walrus.\n',
  'docs/index.md': '# Start\n\nThe heron waits.\n',
  'docs/guides/install.md': '# Install\n\nThe badger digs.\n',
};

it('builds what changed in a folder, and nothing if nothing changed', { tags: 'slow' }, async () => {
  await using repository = await createTestRepository(docs);
  const built: number[] = [];
  await using worker = await startSiteWorker({
    database,
    change: ({ indexes }) => ({
      indexes: {
        ...indexes,
        publish(id, index) {
          built.push(index.pages);
          return indexes.publish(id, index);
        },
      },
    }),
  });
  const site = await buildSite(database.pool, { repository: repository.path, path: 'docs' });
  const sites = createSiteIndexing(database.pool);
  await sites.requestIndex(site.id);

  expect(await worker.index(site)).toEqual({ version: 1, pages: 2, changedPages: 2 });
  await recordHistory('site-indexed', worker.client.workflow.getHandle(indexSiteWorkflowId(site.id)));
  const first = (await sites.get(site.id))!;
  expect(first).toMatchObject({ indexVersion: 1, indexPages: 2, indexFailure: null, indexRequestedAt: null });
  expect(first.indexReport).toEqual({
    layout: null,
    formats: { markdown: 2 },
    skipped: [],
    sources: [],
    vectors: null,
  });
  expect(await search(database, site, 'badger')).toEqual(['Install']);
  expect(await search(database, site, 'walrus')).toEqual([]);

  await repository.commit({ 'README.md': '# Changed\n' });
  expect(await worker.index(site)).toEqual({ version: 1, pages: 2, changedPages: 0 });
  expect(built).toEqual([2]);
  expect((await sites.get(site.id))!.indexedAt!.getTime()).toBeGreaterThan(first.indexedAt!.getTime());

  await repository.commit({ 'docs/guides/install.md': '# Install\n\nThe otter swims.\n' });
  expect(await worker.index(site)).toEqual({ version: 2, pages: 2, changedPages: 1 });
  expect(await search(database, site, 'otter')).toEqual(['Install']);
  expect(await search(database, site, 'badger')).toEqual([]);
  expect(await search(database, site, 'heron')).toEqual(['Start']);

  await repository.commit({ 'docs/guides/install.md': null });
  expect(await worker.index(site)).toEqual({ version: 3, pages: 1, changedPages: 1 });
  expect(await search(database, site, 'otter')).toEqual([]);
});

it(
  'starts from the artifact of the last build, wherever it was made, and reads only what has changed since',
  { tags: 'slow' },
  async () => {
    const more = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`docs/more-${at}.md`, `# More ${at}\n`]));
    await using repository = await createTestRepository({ ...docs, ...more });
    const downloads: string[] = [];
    const filesRead: number[] = [];
    const start = (name: string) =>
      startSiteWorker({
        database,
        change: ({ indexes, workspaces }) => ({
          workspaces: {
            ...workspaces,
            async readFolder(folder) {
              const { read, ...opened } = await workspaces.readFolder(folder);
              const counted: typeof read = async (isKnown) => {
                const files = await read(isKnown);
                filesRead.push(files.filter(({ content }) => content !== null).length);
                return files;
              };
              return { ...opened, read: counted };
            },
          },
          indexes: {
            ...indexes,
            download(id, version, target) {
              downloads.push(`${name} ${version}`);
              return indexes.download(id, version, target);
            },
          },
        }),
      });
    await using one = await start('one');
    await using two = await start('two');
    const site = await buildSite(database.pool, { repository: repository.path, path: 'docs' });
    const change = (word: string) => repository.commit({ 'docs/index.md': `# Start\n\nThe ${word} waits.\n` });
    await one.index(site);
    await change('crane');
    expect(await one.index(site)).toMatchObject({ version: 2, changedPages: 1 });
    await change('stork');
    expect(await two.index(site)).toMatchObject({ version: 3, changedPages: 1 });
    await change('finch');
    expect(await one.index(site)).toMatchObject({ version: 4, changedPages: 1 });
    expect(downloads).toEqual(['two 2', 'one 3']);
    expect(filesRead).toEqual([22, 1, 1, 1]);
    expect(await search(database, site, 'finch')).toEqual(['Start']);
  },
);

it('reads the site’s branch, and the whole repository without a folder', { tags: ['slow'] }, async () => {
  await using repository = await createTestRepository(docs);
  await repository.commit({ 'next.md': '# Next\n\nThe lynx.\n' }, { branch: 'next' });
  await using worker = await startSiteWorker({ database });
  const next = await buildSite(database.pool, { repository: repository.path, ref: 'next' });
  const main = await buildSite(database.pool, { repository: repository.path });
  expect(await worker.index(next)).toMatchObject({ pages: 1 });
  expect(await worker.index(main)).toMatchObject({ pages: 3 });
  expect(await search(database, next, 'lynx')).toEqual(['Next']);
  expect(await search(database, main, 'walrus')).toEqual(['Not a page of the site']);
});
