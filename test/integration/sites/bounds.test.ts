import { expect, it } from 'vitest';
import { createSiteIndexing } from '../../../db/for-worker/site-indexing.ts';
import { watchEventLoop } from '../../../lib/threads/watch-event-loop.ts';
import { indexSiteWorkflowId } from '../../../workflows/contract/messages.ts';
import { buildSite } from '../../support/build.ts';
import { createTestDatabase } from '../../support/database.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { startSiteWorker } from './site-worker.ts';

it('fails on a few objects that list as a billion pages, at once and without holding the worker', async () => {
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
  const holds: number[] = [];
  using _ = watchEventLoop({ heldMs: 250, onHeld: ({ cpuMs }) => holds.push(cpuMs) });
  const residentBefore = process.memoryUsage.rss();
  await expect(worker.index(site)).rejects.toThrow(Error);
  expect(holds).toEqual([]);
  expect(process.memoryUsage.rss() - residentBefore).toBeLessThan(400e6);
  expect(await sites.get(site.id)).toMatchObject({
    indexFailure: 'site_unreadable',
    indexFailureMessage: 'The folder holds too many files; give the site a smaller folder.',
    indexRequestedAt: null,
  });
});

it('gives up on a site whose pages take the worker along each time', async () => {
  await using database = await createTestDatabase();
  await using repository = await createTestRepository({ 'a.md': '# Page\n' });
  const reached = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  await using worker = await startSiteWorker({
    database,
    change: ({ indexes }) => ({
      indexes: {
        ...indexes,
        async publish(id, index) {
          reached.resolve();
          await release.promise;
          return indexes.publish(id, index);
        },
      },
    }),
  });
  const site = await buildSite(database.pool, { repository: repository.path, path: '' });
  const indexed = worker.index(site);
  await reached.promise;
  const { raw } = await worker.client.workflow.getHandle(indexSiteWorkflowId(site.id)).describe();
  expect(raw.pendingActivities?.map(({ maximumAttempts }) => maximumAttempts)).toEqual([20]);
  release.resolve();
  await indexed;
});
