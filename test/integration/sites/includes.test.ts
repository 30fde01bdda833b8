import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createGitIncludes } from '../../../activities/workspaces/included-files.ts';
import { buildSite } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { createTestGit } from '../../support/git.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { search, startSiteWorker } from './site-worker.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const root = temporaryDirectory();
const worker = ofFile(() => startSiteWorker({ database, siteDirectories: root }));

const including = (...targets: string[]) =>
  `Top\n===\n\n${targets.map((target) => `.. literalinclude:: ${target}\n`).join('\n')}`;

it(
  'reads the files that pages of a repository include, and indexes again when they change',
  { tags: ['slow'] },
  async () => {
    const targets = [
      '../code/one.py',
      'two.c',
      '../.env',
      '../:(glob)*',
      'linked.py',
      'in/linked.py',
      '../../../../etc/passwd',
      'blob.bin',
    ];
    await using repository = await createTestRepository({
      'docs/a.rst': including(...targets),
      'docs/b.rst': 'B\n=\n\nThe start.\n',
      'code/one.py': 'heron = 1\n',
      'code/large.py': 'stork = 1\n',
      'docs/two.c': 'int badger;\n',
      '.env': 'walrus = 1\n',
      'docs/linked.py': { link: '../code/large.py' },
      'docs/in': { link: '../code' },
      'docs/blob.bin': Buffer.from('otter\0otter'),
    });
    const site = await buildSite(database.pool, { repository: repository.path, path: 'docs' });
    expect(await worker.index(site)).toMatchObject({ version: 1, pages: 2 });
    expect(await search(database, site, 'heron')).toEqual(['Top']);
    expect(await search(database, site, 'badger')).toEqual(['Top']);
    for (const word of ['walrus', 'stork', 'otter', 'passwd']) expect(await search(database, site, word)).toEqual([]);

    expect(await worker.index(site)).toMatchObject({ version: 1, changedPages: 0 });
    // outside of the site's folder, whose tree stays as it is
    await repository.commit({ 'code/one.py': 'crane = 1\n' });
    expect(await worker.index(site)).toMatchObject({ version: 2, changedPages: 1 });
    expect(await search(database, site, 'crane')).toEqual(['Top']);
    expect(await search(database, site, 'heron')).toEqual([]);
  },
);

it('leaves out what is too large, or more than is read for one source', async () => {
  const megabyte = 'x'.repeat(1_000_000);
  const paths = Array.from({ length: 60 }, (_, at) => `code/${at}.py`);
  await using repository = await createTestRepository({
    ...Object.fromEntries(paths.map((path) => [path, megabyte])),
    'large.py': megabyte + megabyte,
    'small.py': 'heron = 1\n',
  });
  const git = createTestGit({ home: temporaryDirectory(), transports: ['file'] });
  const { signal } = new AbortController();
  const commit = await repository.git('rev-parse', 'HEAD');
  const open = () => createGitIncludes(git, { gitDir: repository.path, commit, folder: 'docs', signal });
  const fromDocs = (path: string) => `../${path}`;
  expect((await open()(['large.py', 'small.py'].map(fromDocs))).map(({ path }) => path)).toEqual(['../small.py']);
  const read = open();
  expect(await read(paths.map(fromDocs))).toHaveLength(52);
  expect(await read(['../code/59.py', '../small.py'])).toHaveLength(1);
  // a build that begins again
  expect(await read(paths.map(fromDocs))).toHaveLength(52);
});

it('reads the files that pages of a directory include, without leaving it', { tags: ['slow'] }, async () => {
  const folder = join(root, 'site');
  await mkdir(join(folder, 'code'), { recursive: true });
  await writeFile(join(folder, 'a.rst'), including('code/one.py', '../secret.py', 'code/linked.py', 'out/secret.py'));
  await writeFile(join(folder, 'code/one.py'), 'heron = 1\n');
  await writeFile(join(root, 'secret.py'), 'walrus = 1\n');
  await symlink(join(root, 'secret.py'), join(folder, 'code/linked.py'));
  await symlink(root, join(folder, 'out'));
  const site = await buildSite(database.pool, { repository: undefined, directory: folder });
  await worker.index(site);
  expect(await search(database, site, 'heron')).toEqual(['Top']);
  expect(await search(database, site, 'walrus')).toEqual([]);
  expect(await worker.index(site)).toMatchObject({ version: 1, changedPages: 0 });
  await writeFile(join(folder, 'code/one.py'), 'crane = 1\n');
  expect(await worker.index(site)).toMatchObject({ version: 2, changedPages: 1 });
  expect(await search(database, site, 'crane')).toEqual(['Top']);
});
