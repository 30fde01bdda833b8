import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildIndexInThread, type BuildFile } from '../../../activities/sites/index-build.ts';

import { createSiteIndexing } from '../../../db/for-worker/site-indexing.ts';
import { watchEventLoop } from '../../../lib/threads/watch-event-loop.ts';
import { buildSite } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { holdOf } from '../../support/database/hold-of.ts';
import { startSiteWorker } from './site-worker.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

it('fails at once on a few objects that list as a billion pages, without blocking the worker', async () => {
  await using database = await createTestDatabase();
  await using repository = await createTestRepository({ 'a.md': '# Page\n' });
  let entry = (await repository.git('ls-tree', 'main', 'a.md')).split('\t')[0]!;
  for (let level = 0; level < 9; level += 1) {
    const names = Array.from({ length: 10 }, (_, at) => `${entry}\t${at}.md`);
    entry = `040000 tree ${await repository.makeTree(`${names.join('\n')}\n`)}`;
  }
  const bomb = await repository.git('commit-tree', entry.split(' ')[2]!, '-m', 'Bomb');
  await repository.git('update-ref', 'refs/heads/main', bomb);

  await using worker = await startSiteWorker({ database });
  const site = await buildSite(database.pool, { repository: repository.path, path: '' });
  const sites = createSiteIndexing(database.pool);
  await sites.requestIndex(site.id);
  const blocks: number[] = [];
  using _ = watchEventLoop({ blockedMs: 250, onBlocked: ({ cpuMs }) => blocks.push(cpuMs) });
  const residentBefore = process.memoryUsage.rss();
  await expect(worker.index(site)).rejects.toThrow(Error);
  expect(blocks).toEqual([]);
  expect(process.memoryUsage.rss() - residentBefore).toBeLessThan(400e6);
  expect(await sites.get(site.id)).toMatchObject({
    indexFailure: 'site_unreadable',
    indexFailureMessage: 'The folder contains too many files. Give the site a smaller folder.',
    indexRequestedAt: null,
  });
});

it('passes many small files to the build without blocking the worker', async () => {
  const directory = temporaryDirectory();
  const { signal } = new AbortController();
  // buffers are transferred, so each run needs its own set
  const sets = [smallFiles(30_000), smallFiles(30_000), smallFiles(30_000), smallFiles(2_500)];
  const build = async () => {
    const files = sets.pop() ?? [];
    const parts = [{ prefix: '', weight: 1, isKept: false, isParsed: false, isWithdrawn: false }];
    const readIncluded = () => Promise.resolve([]);
    const request = { parts, files, file: join(directory, `${sets.length}`), signal, readIncluded };
    expect(await buildIndexInThread(request)).toMatchObject({ pages: 2 });
  };
  await build();
  expect(await holdOf(build)).toBe(0);
});

/** A page and an API description that share a buffer, more than a thousand files apart; no other file is a page. */
function smallFiles(count: number): BuildFile[] {
  const shared = Buffer.alloc(100_000, ' ');
  shared.write('# Page\n');
  const paths = { '/a': { get: { summary: 'A', responses: {} } } };
  shared.write(JSON.stringify({ openapi: '3.1.0', info: { title: 'T', version: '1' }, paths }), 50_000);
  return Array.from({ length: count }, (_, at) => {
    const name = `${at}`.padStart(40, '0');
    if (at === 0) return { path: 'page.md', name, part: 0, content: shared.subarray(0, 50_000) };
    if (at === 1_500) return { path: 'openapi.json', name, part: 0, content: shared.subarray(50_000) };
    const content = Buffer.allocUnsafeSlow(1_000).fill(' ');
    content.write('{}');
    return { path: `settings-${at}.json`, name, part: 0, content };
  });
}

it('gives up on a site whose pages crash the worker each time, until the next request', async () => {
  await using database = await createTestDatabase();
  await using repository = await createTestRepository({ 'a.md': '# Page\n' });
  let lostAttempts = 20;
  await using worker = await startSiteWorker({
    database,
    change: ({ sites }) => ({
      sites: {
        ...sites,
        async startIndexRun(id) {
          const request = await sites.startIndexRun(id);
          for (; lostAttempts > 0; lostAttempts -= 1) await sites.countIndexAttempt(id);
          return request;
        },
      },
    }),
  });
  const site = await buildSite(database.pool, { repository: repository.path, path: '' });
  const lost = expect.stringContaining('was lost 20 times');
  expect(await worker.failure(site)).toEqual({ type: 'internal', message: lost });
  expect(await createSiteIndexing(database.pool).get(site.id)).toMatchObject({ indexFailureMessage: lost });
  expect(await worker.index(site)).toMatchObject({ pages: 1 });
});
