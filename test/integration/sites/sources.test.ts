import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GitError } from '../../../activities/git/git-error.ts';
import { createSiteIndexStore } from '../../../db/sites/site-indexes.ts';
import { createSiteIndexing } from '../../../db/for-worker/site-indexing.ts';
import { indexSiteWorkflowId } from '../../../workflows/contract/messages.ts';
import { buildSite } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { recordHistory } from '../../support/database/histories.ts';
import { search, startSiteWorker } from './site-worker.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const root = temporaryDirectory();
const worker = ofFile(() => startSiteWorker({ database, siteDirectories: join(root, 'allowed') }));

const page = '# Page\n\nThe heron waits.\n';

describe('a site that can no longer be indexed', () => {
  it('serves its old index, reports why, and recovers', { tags: ['slow'] }, async () => {
    await using repository = await createTestRepository({ 'docs/a.md': page });
    const site = await buildSite(database.pool, { repository: repository.path, path: 'docs' });
    const sites = createSiteIndexing(database.pool);
    await worker.index(site);
    await repository.commit({ 'docs/a.md': null, 'docs/logo.svg': '<svg/>' });
    await sites.requestIndex(site.id);

    const failure = await worker.failure(site);
    expect(failure).toEqual({
      type: 'site_unreadable',
      message: expect.stringContaining('no pages in a format'),
    });
    await recordHistory('site-unreadable', worker.client.workflow.getHandle(indexSiteWorkflowId(site.id)));
    expect(await sites.get(site.id)).toMatchObject({
      indexVersion: 1,
      indexRequestedAt: null,
      indexFailure: 'site_unreadable',
      indexFailureMessage: failure.message,
    });
    expect(await search(database, site, 'heron')).toEqual(['Page']);

    await repository.commit({ 'docs/a.md': '# Page\n\nThe crane.\n' });
    expect(await worker.index(site)).toMatchObject({ version: 2 });
    expect(await sites.get(site.id)).toMatchObject({ indexFailure: null, indexFailureMessage: null });
    expect(await search(database, site, 'crane')).toEqual(['Page']);
  });
});

describe('a repository site', () => {
  it.each([
    ['has no such folder', { path: 'missing' }, 'site_unreadable', 'no folder "missing"'],
    ['names a file', { path: 'README.md' }, 'site_unreadable', 'no folder "README.md"'],
    ['names a symbolic link', { path: 'link' }, 'site_unreadable', 'no folder "link"'],
    ['has no such branch', { ref: 'nope' }, 'ref_not_found', 'no branch or tag'],
  ])('that %s fails with its reason', async (_name, more, type, words) => {
    await using repository = await createTestRepository({
      'README.md': page,
      'docs/a.md': page,
      link: { link: 'docs' },
    });
    const site = await buildSite(database.pool, { repository: repository.path, ...more });
    expect(await worker.failure(site)).toEqual({ type, message: expect.stringContaining(words) });
  });

  it('that disappeared keeps its index and is reported as unreachable', async () => {
    await using repository = await createTestRepository({ 'a.md': page });
    const site = await buildSite(database.pool, { repository: repository.path });
    await worker.index(site);
    await rename(repository.path, `${repository.path}.gone`);
    expect(await worker.failure(site)).toMatchObject({ type: 'repository_unreachable' });
    expect(await search(database, site, 'heron')).toEqual(['Page']);
    expect(await createSiteIndexing(database.pool).get(site.id)).toMatchObject({
      indexFailure: 'repository_unreachable',
    });
  });

  it('that this worker may not use is refused', async () => {
    await using strict = await startSiteWorker({
      database,
      change: () => ({ problemWithRepository: () => 'That host is not allowed.' }),
    });
    const site = await buildSite(database.pool);
    expect(await strict.failure(site)).toEqual({
      type: 'repository_unreachable',
      message: 'That host is not allowed.',
    });
  });

  it('that does not answer at first is retried', async () => {
    await using repository = await createTestRepository({ 'a.md': page });
    let calls = 0;
    await using patient = await startSiteWorker({
      database,
      change: ({ workspaces }) => ({
        workspaces: {
          ...workspaces,
          resolve(request) {
            calls += 1;
            return calls < 3 ? Promise.reject(new GitError('unreachable')) : workspaces.resolve(request);
          },
        },
      }),
    });
    const site = await buildSite(database.pool, { repository: repository.path });
    expect(await patient.index(site)).toMatchObject({ version: 1, pages: 1 });
  });
});

describe('a directory site', () => {
  it('is indexed below the root for directories only, and again only when a file changed', async () => {
    const directory = join(root, 'allowed/site');
    await mkdir(join(directory, 'guides'), { recursive: true });
    await writeFile(join(root, 'secret.md'), '# Secret\n\nThe launch code.\n');
    await writeFile(join(directory, 'guides/a.md'), page);
    await symlink(join(root, 'secret.md'), join(directory, 'leak.md'));
    await symlink(root, join(directory, 'leaks'));
    const site = await buildSite(database.pool, { repository: undefined, directory });
    expect(await worker.index(site)).toEqual({ version: 1, pages: 1, changedPages: 1 });
    expect(await search(database, site, 'launch code')).toEqual([]);
    expect(await worker.index(site)).toEqual({ version: 1, pages: 1, changedPages: 0 });
    await writeFile(join(directory, 'guides/a.md'), '# Page\n\nThe crane.\n');
    await writeFile(join(directory, 'b.md'), '# More\n');
    expect(await worker.index(site)).toEqual({ version: 2, pages: 2, changedPages: 2 });
    expect(await search(database, site, 'crane')).toEqual(['Page']);
    const below = await buildSite(database.pool, { repository: undefined, directory, path: 'guides' });
    expect(await worker.index(below)).toMatchObject({ pages: 1 });
  });

  it.each([
    ['is outside', 'outside', ''],
    ['climbs out', 'allowed', '../outside'],
    ['is a link that leads outside', 'allowed/link', ''],
    ['only begins with the same name', 'allowed-not', ''],
    ['does not exist', 'allowed/missing', ''],
  ])('that %s is refused', async (_name, directory, path) => {
    await mkdir(join(root, 'allowed'), { recursive: true });
    for (const name of ['outside', 'allowed-not']) {
      await mkdir(join(root, name), { recursive: true });
      await writeFile(join(root, name, 'a.md'), page);
    }
    await symlink(join(root, 'outside'), join(root, 'allowed/link')).catch(() => {});
    const site = await buildSite(database.pool, { repository: undefined, directory: join(root, directory), path });
    expect(await worker.failure(site)).toMatchObject({ type: 'site_unreadable' });
    expect(await createSiteIndexStore(database.pool).current(site)).toBeNull();
  });

  it('is refused by a worker that reads no directories', async () => {
    await using strict = await startSiteWorker({ database });
    const site = await buildSite(database.pool, { repository: undefined, directory: root });
    const message = expect.stringContaining('DOCKET_SITE_DIRECTORIES');
    expect(await strict.failure(site)).toEqual({ type: 'site_unreadable', message });
  });
});
