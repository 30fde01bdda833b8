import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildIndex } from '../../../../search/build/build-index.ts';
import { createSearchPool } from '../../../../search/query/search-pool.ts';
import { buildPage, openWhole } from '../build.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const folder = temporaryDirectory();
const organizationId = 'org_one';
const live = new AbortController().signal;
const pages = (word: string) => [
  buildPage({ path: 'guides/retry', content: `# Retry limits\n\nSet the ${word} limit to 3.\n` }),
  buildPage({ path: 'private', content: `# Secret\n\nThe ${word} limit is 9.\n`, restrictedTo: ['staff'] }),
];

it('finds and suggests what the index does, as the same reader', async () => {
  const file = join(folder, 'one.db');
  buildIndex(pages('retry'), { file });
  using whole = openWhole(file);
  await using pool = createSearchPool({ deadlineMs: 60_000 });
  const [search, suggest] = [
    { query: 'retry limit', limit: 5 },
    { query: 'retr', limit: 5 },
  ];
  const all = { organizationId, file, access: 'all' as const };
  expect(await pool.search(all, search, live)).toEqual(whole.search(search));
  expect(whole.search(search)).toHaveLength(2);
  expect(await pool.suggest(all, suggest, live)).toEqual(whole.suggest(suggest));
  const asPublic = await pool.search({ organizationId, file, access: { groups: [] } }, search, live);
  expect(asPublic.map(({ path }) => path)).toEqual(['guides/retry']);
});

it('opens a file again after it was closed and replaced', async () => {
  const file = join(folder, 'two.db');
  const at = { organizationId, file, access: 'all' as const };
  await using pool = createSearchPool({ deadlineMs: 60_000 });
  for (const word of ['first', 'second']) {
    buildIndex(pages(word), { file });
    expect((await pool.search(at, { query: `${word} limit`, limit: 1 }, live))[0]?.content).toContain(word);
    pool.close(file);
    rmSync(file);
  }
});

it('rejects with what is wrong with a file, and finds nothing for a reader who has left', async () => {
  await using pool = createSearchPool({ deadlineMs: 60_000 });
  const at = { organizationId, file: join(folder, 'missing.db'), access: 'all' as const };
  const request = { query: 'limit', limit: 1 };
  await expect(pool.search(at, request, live)).rejects.toThrow('unable to open database file');
  expect(await pool.search(at, request, AbortSignal.abort())).toEqual([]);
});
