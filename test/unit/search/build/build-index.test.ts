import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildIndex } from '../../../../search/build/build-index.ts';
import type { SourcePage } from '../../../../search/read/source-page.ts';
import { buildPage, openWhole } from '../build.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const folder = temporaryDirectory();

describe('building', () => {
  const words = ['alpha', 'beta', 'gamma', 'delta', 'createThing', 'rate limit', 'token'];
  const pages = Array.from({ length: 60 }, (_, at) =>
    buildPage({
      path: `p${at}`,
      order: at,
      metadata: { title: `Page ${words[at % 7]}` },
      content: `## ${words[(at * 3) % 7]}\n\n${words.slice(at % 5).join(' ')} item${at}\n\n## Part\n\n${words[(at * 5) % 7]} text ${at}`,
    }),
  );
  const changed: SourcePage[] = pages
    .filter((_, at) => at !== 7)
    .map((page, at) => (at === 20 ? { ...page, content: `${page.content}\n\n## New\n\nquokka token` } : page))
    .concat(buildPage({ path: 'added', order: 3, content: 'A zebra and a token.' }));

  it('produces the same bytes for the same pages in any order', () => {
    const [one, two] = [join(folder, 'one.db'), join(folder, 'two.db')];
    const first = buildIndex(pages, { file: one });
    const second = buildIndex(pages.toReversed(), { file: two });
    expect(second).toEqual(first);
    expect(readFileSync(one).equals(readFileSync(two))).toBe(true);
  });

  it('finds the same after a change as after a full build', () => {
    const [before, after, full] = ['before.db', 'after.db', 'full.db'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    buildIndex(pages, { file: before });
    const built = buildIndex(changed, { file: after, previousFile: before });
    expect(built).toEqual({ ...buildIndex(changed, { file: full }), changedPages: 2 });
    using one = openWhole(after);
    using two = openWhole(full);
    for (const query of [
      ...words,
      'token limit',
      'quokka',
      'zebra',
      'item7',
      'create thing',
      'item20 text',
      'page alpha beta',
    ]) {
      expect(one.search({ query, limit: 20 }), query).toEqual(two.search({ query, limit: 20 }));
    }
    expect(one.pages({ from: 0, limit: 1_000 })).toEqual(two.pages({ from: 0, limit: 1_000 }));
    expect(one.page('p7')).toBeNull();
  });

  it('changes little of the file for a small change', () => {
    const [before, after] = [join(folder, 'small.db'), join(folder, 'small-after.db')];
    const many = Array.from({ length: 400 }, (_, at) =>
      buildPage({ path: `q${at}`, content: `text ${at} ${words.join(' ')} `.repeat(20) }),
    );
    buildIndex(many, { file: before });
    buildIndex([...many.slice(1), buildPage({ path: 'q0', content: 'other text entirely' })], {
      file: after,
      previousFile: before,
    });
    const [old, now] = [readFileSync(before), readFileSync(after)];
    const blocks = Math.ceil(now.length / 4096);
    const same = Array.from({ length: blocks }, (_, at) =>
      now.subarray(at * 4096, (at + 1) * 4096).equals(old.subarray(at * 4096, (at + 1) * 4096)),
    );
    expect(same.filter(Boolean).length / blocks).toBeGreaterThan(0.8);
  });

  it('reports that nothing changed', () => {
    const [before, after] = [join(folder, 'same.db'), join(folder, 'same-after.db')];
    const first = buildIndex(pages, { file: before });
    expect(buildIndex(pages, { file: after, previousFile: before })).toEqual({ ...first, changedPages: 0 });
    expect(buildIndex(pages, { file: before, previousFile: before }).changedPages).toBe(0);
  });

  it('starts over if the previous file is damaged or has another format', () => {
    const broken = join(folder, 'broken.db');
    writeFileSync(broken, 'this is no database');
    expect(buildIndex(pages, { file: join(folder, 'fresh.db'), previousFile: broken }).changedPages).toBe(60);
    expect(() => openWhole(broken)).toThrow('not a database');
  });

  it('leaves nothing of a failed build and accepts an empty site', () => {
    const file = join(folder, 'empty.db');
    expect(buildIndex([], { file })).toMatchObject({ pages: 0, chunks: 0 });
    using index = openWhole(file);
    expect(index.search({ query: 'anything', limit: 5 })).toEqual([]);
    expect(index.pages({ from: 0, limit: 1_000 })).toEqual([]);
  });

  it('starts over if many pages changed, at once or gradually', () => {
    const [one, two, three] = ['drift1.db', 'drift2.db', 'drift3.db'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const edit = (from: number, to: number, text: string) =>
      pages.map((page, at) => (at >= from && at < to ? { ...page, content: text } : page));
    buildIndex(pages, { file: one });
    expect(buildIndex(edit(0, 20, 'new'), { file: two, previousFile: one }).changedPages).toBe(60);
    expect(buildIndex(edit(0, 8, 'new'), { file: two, previousFile: one }).changedPages).toBe(8);
    expect(buildIndex(edit(0, 8, 'newer'), { file: three, previousFile: two }).changedPages).toBe(60);
  });
});
