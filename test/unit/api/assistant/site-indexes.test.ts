import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import type { SiteRef } from '../../../../db/caller.ts';
import { createSearchPool } from '../../../../search/query/search-pool.ts';
import { SiteIndexes } from '../../../../api/assistant/site-indexes.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const anHourAgo = new Date(Date.now() - 61 * 60_000);

function open(
  directory: string,
  { changed = () => Promise.resolve<SiteRef[]>([]), isQuiet = (): boolean => false } = {},
): SiteIndexes {
  return new SiteIndexes({
    store: {
      current: () => Promise.resolve(null),
      download: () => Promise.reject(new Error('nothing is stored')),
    },
    changes: { changed },
    isQuiet,
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
