import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import type { SiteRef } from '../../../../db/caller.ts';
import type { IndexChangeStore } from '../../../../db/for-service/index-changes.ts';
import { buildIndex } from '../../../../search/build/build-index.ts';
import { indexFormat } from '../../../../search/query/index-format.ts';
import { createSearchPool } from '../../../../search/query/search-pool.ts';
import { SiteIndexes, type SiteIndexesDeps } from '../../../../api/assistant/site-indexes.ts';
import { buildPage } from '../../search/build.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const anHourAgo = new Date(Date.now() - 61 * 60_000);

const nothingStored: SiteIndexesDeps['store'] = {
  current: () => Promise.resolve(null),
  download: () => Promise.reject(new Error('nothing is stored')),
};

const stored = {
  version: 1,
  format: indexFormat,
  sourceHash: '',
  revision: null,
  sizeBytes: 0,
  pages: 1,
  chunks: 1,
};
const download: SiteIndexesDeps['store']['download'] = (_site, _version, { file }) => {
  buildIndex([buildPage({ path: 'retry', content: 'Set the retry limit.' })], { file });
  return Promise.resolve({ file, blocks: [] });
};

function open(
  directory: string,
  {
    changed = () => Promise.resolve<SiteRef[]>([]),
    isQuiet = (): boolean => false,
    store = nothingStored,
    unusedMs,
  }: Partial<SiteIndexesDeps> & { changed?: IndexChangeStore['changed'] } = {},
): SiteIndexes {
  return new SiteIndexes({
    store,
    changes: { changed },
    isQuiet,
    unusedMs,
    searches: createSearchPool({ deadlineMs: 60_000 }),
    directory,
    logger: pino({ level: 'silent' }),
    pollMs: 10,
  });
}

it('removes the page data of a killed process, and keeps that of a running one', async () => {
  const directory = temporaryDirectory();
  try {
    await using running = open(directory);
    const own = await vi.waitFor(async () => {
      const [name] = await readdir(directory);
      expect(name).toMatch(/^indexes-/);
      return name ?? '';
    }, 30_000);
    await utimes(join(directory, own), anHourAgo, anHourAgo);
    await vi.waitFor(async () => {
      expect((await stat(join(directory, own))).mtimeMs).toBeGreaterThan(anHourAgo.getTime());
    }, 30_000);
    for (const name of ['indexes-killed', 'other']) {
      await mkdir(join(directory, name));
      await writeFile(join(directory, name, 'site_1-1.sqlite'), 'pages');
      await utimes(join(directory, name), anHourAgo, anHourAgo);
    }
    await open(directory)[Symbol.asyncDispose]();
    expect(running).toBeDefined();
    expect(await readdir(directory)).toEqual([own, 'other']);
  } finally {
    await rm(directory, { recursive: true });
  }
});

it('seldom looks for newer indexes while they would be announced', async () => {
  const directory = temporaryDirectory();
  try {
    let isQuiet = true;
    const changed = vi.fn(() => Promise.resolve([]));
    const asked = vi.fn(() => isQuiet);
    await using _indexes = open(directory, { changed, isQuiet: asked });
    await vi.waitFor(() => expect(asked.mock.calls.length).toBeGreaterThan(20), 30_000);
    expect(changed.mock.calls.length).toBeLessThanOrEqual(1);
    isQuiet = false;
    await vi.waitFor(() => expect(changed.mock.calls.length).toBeGreaterThan(5), 30_000);
  } finally {
    await rm(directory, { recursive: true });
  }
});

it('closes an index that nobody has leased lately, but none that is in use, and opens it again', async () => {
  const directory = temporaryDirectory();
  try {
    const store: SiteIndexesDeps['store'] = { current: () => Promise.resolve(stored), download };
    const changed = vi.fn<IndexChangeStore['changed']>(() => Promise.resolve([]));
    await using indexes = open(directory, { store, changed, unusedMs: 0 });
    const files = async () => {
      const [folder] = await readdir(directory);
      return readdir(join(directory, folder ?? ''));
    };
    const known = () => changed.mock.lastCall?.[0].map(({ id }) => id);
    const [unused, used] = ['site_unused', 'site_used'].map((id) => ({ id, organizationId: 'org_1' }));
    const lease = await indexes.lease(used!, 'all');
    (await indexes.lease(unused!, 'all'))?.release();
    await vi.waitFor(async () => expect(await files()).toEqual(['site_used-1.sqlite']), 30_000);
    await vi.waitFor(() => expect(known()).toEqual(['site_used']), 30_000);
    expect(lease?.index.page('retry')?.content).toBe('Set the retry limit.');
    const again = await indexes.lease(unused!, 'all');
    expect(again?.index.page('retry')?.content).toBe('Set the retry limit.');
    lease?.release();
    await vi.waitFor(async () => expect(await files()).toEqual(['site_unused-1.sqlite']), 30_000);
    again?.release();
    await vi.waitFor(() => expect(known()).toEqual([]), 30_000);
  } finally {
    await rm(directory, { recursive: true });
  }
});

it('looks for newer indexes again after a failure, when the clock was set back, too', async () => {
  const directory = temporaryDirectory();
  try {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    const changed = vi.fn<IndexChangeStore['changed']>(() => Promise.resolve([]));
    await using indexes = open(directory, { changed });
    await indexes.lease({ id: 'site_1', organizationId: 'org_1' }, 'all');
    changed.mockRejectedValueOnce(new Error('down'));
    await vi.waitFor(() => expect(changed.mock.lastCall?.[0]).toEqual([]), 30_000);
    vi.advanceTimersByTime(60_000);
    vi.setSystemTime(Date.now() - 3_600_000);
    await vi.waitFor(() => expect(changed.mock.lastCall?.[0]).toHaveLength(1), 30_000);
  } finally {
    vi.useRealTimers();
    await rm(directory, { recursive: true });
  }
});

it('updates the indexes of organizations in turn', async () => {
  const directory = temporaryDirectory();
  try {
    const sites = ['a', 'b', 'c'].map((id) => ({ id, organizationId: 'org_1' }));
    sites.push({ id: 'd', organizationId: 'org_2' });
    const read: string[] = [];
    const store: SiteIndexesDeps['store'] = {
      ...nothingStored,
      async current({ id }) {
        read.push(id);
        return null;
      },
    };
    const changed = vi.fn<IndexChangeStore['changed']>(() => Promise.resolve([]));
    await using indexes = open(directory, { store, changed });
    for (const site of sites) await indexes.lease(site, 'all');
    read.length = 0;
    changed.mockResolvedValueOnce(sites);
    await vi.waitFor(() => expect(read).toHaveLength(4), 30_000);
    expect(read.join('')).toBe('abdc');
  } finally {
    await rm(directory, { recursive: true });
  }
});

it('ends while the index of a site that was removed is closed', async () => {
  const directory = temporaryDirectory();
  try {
    const site = { id: 'site_removed', organizationId: 'org_1' };
    const read = Promise.withResolvers<null>();
    const current = vi.fn<SiteIndexesDeps['store']['current']>(() => read.promise).mockResolvedValueOnce(stored);
    const indexes = open(directory, { store: { current, download }, changed: () => Promise.resolve([site]) });
    (await indexes.lease(site, 'all'))?.release();
    await vi.waitFor(() => expect(current).toHaveBeenCalledTimes(2), 30_000);
    const ended = indexes[Symbol.asyncDispose]();
    read.resolve(null);
    await expect(ended).resolves.toBeUndefined();
  } finally {
    await rm(directory, { recursive: true });
  }
});
