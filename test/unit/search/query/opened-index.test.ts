import { join } from 'node:path';
import { mkdirSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { buildIndex } from '../../../../search/build/build-index.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { buildPage, openWhole } from '../build.ts';

const folder = temporaryDirectory();

it('reads an index without taking a lock, whatever the name of its folder', () => {
  const directory = join(folder, 'a?b#c%20d e');
  mkdirSync(directory);
  const file = join(directory, 'index.db');
  buildIndex([buildPage({ content: 'A heron waits.\n' })], { file });
  using other = new DatabaseSync(file);
  other.exec('begin exclusive');
  using index = openWhole(file);
  expect(index.search({ query: 'heron', limit: 1 })[0]?.path).toBe('page');
});

it('finds the same after thousands of other passages as a fresh index', () => {
  const file = join(folder, 'many.db');
  const words = ['heron', 'egret', 'crane', 'stork'];
  const pages = words.flatMap((word) =>
    Array.from({ length: 250 }, (_, at) => buildPage({ path: `${word}/${at}`, content: `The ${word} waits ${at}.\n` })),
  );
  buildIndex(pages, { file });
  using index = openWhole(file);
  const requests = words.map((word) => ({ query: `${word} waits`, limit: 300 }));
  const expected = requests.map((request) => {
    using fresh = openWhole(file);
    return JSON.stringify(fresh.search(request));
  });
  for (let round = 0; round < 12; round += 1)
    expect(requests.map((request) => JSON.stringify(index.search(request)))).toEqual(expected);
});
