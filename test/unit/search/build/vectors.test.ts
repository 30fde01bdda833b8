import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildIndex } from '../../../../search/build/build-index.ts';
import { openVectorWriter } from '../../../../search/build/vectors.ts';
import type { PageAccess } from '../../../../search/query/page-access.ts';
import { openSiteIndex } from '../../../../search/query/site-index.ts';
import type { SearchRequest } from '../../../../search/query/search-request.ts';
import { buildPage } from '../build.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const folder = temporaryDirectory();
const model = 'compatible/embed';
let files = 0;

/** Each subject stands for a meaning: a text about it has a vector along the subject's axis. */
const subjects = ['heron', 'crane', 'stork', 'ibis'];
const vectorOf = (text: string) => [...subjects.map((subject) => (text.includes(subject) ? 1 : 0)), 0.1];

function build(pages: Parameters<typeof buildPage>[0][], previousFile?: string) {
  const file = join(folder, `vectors-${++files}.db`);
  buildIndex(
    pages.map((page) => buildPage(page)),
    { file, previousFile },
  );
  return file;
}

function embed(file: string, options: { previousFile?: string; model?: string } = {}): string[] {
  using writer = openVectorWriter(file, { model, ...options });
  const texts = writer.missing.map(({ text }) => text);
  writer.add(writer.missing, texts.map(vectorOf));
  return texts;
}

function find(file: string, request: Partial<SearchRequest>, access: PageAccess = 'all'): string[] {
  using index = openSiteIndex(file);
  const found = index.as(access).search({ query: 'Fischreiher', limit: 5, ...request });
  return [...new Set(found.map(({ path }) => path))];
}

const pages = [
  { path: 'a', content: 'The heron waits.' },
  { path: 'b', content: 'The crane flies.', metadata: { title: 'b', version: '2' } },
  { path: 'c', content: 'The stork nests.', restrictedTo: ['staff'] },
];

it('finds a passage by meaning that shares no word with the question', () => {
  const file = build(pages);
  expect(embed(file)).toHaveLength(3);
  expect(find(file, {})).toEqual([]);
  expect(find(file, { vector: vectorOf('heron') })[0]).toBe('a');
  expect(find(file, { query: '?', vector: vectorOf('crane') })[0]).toBe('b');
});

it('ranks by words and by meaning together', () => {
  const file = build(pages);
  embed(file);
  expect(
    find(file, { query: 'the crane flies', vector: vectorOf('heron') })
      .slice(0, 2)
      .toSorted(),
  ).toEqual(['a', 'b']);
});

it('finds by meaning only what the filter allows and the reader may see', () => {
  const file = build(pages);
  embed(file);
  const vector = vectorOf('stork');
  expect(find(file, { vector })[0]).toBe('c');
  expect(find(file, { vector }, { groups: [] })).not.toContain('c');
  expect(find(file, { vector }, { groups: ['Staff '] })[0]).toBe('c');
  expect(find(file, { vector, filter: { version: '2' } })).toEqual(['b']);
  expect(find(file, { vector, filter: { version: ' ' } })).toEqual([]);
});

it('embeds only what the previous artifact does not have', () => {
  const first = build(pages);
  embed(first);
  const changed = [...pages.slice(1), { path: 'a', content: 'The ibis waits.' }];
  const second = build(changed, first);
  expect(embed(second, { previousFile: first }).join()).toContain('ibis');
  expect(find(second, { vector: vectorOf('ibis') })[0]).toBe('a');
  // a full build has the same passages under other numbers
  const third = build(changed);
  expect(embed(third, { previousFile: second })).toEqual([]);
  expect(find(third, { vector: vectorOf('crane') })[0]).toBe('b');
});

it('replaces the vectors of another model', () => {
  const file = build(pages);
  embed(file);
  expect(embed(file, { model: 'compatible/other' })).toHaveLength(3);
  using index = openSiteIndex(file);
  expect(index.as('all').vectorModel).toBe('compatible/other');
});

it.each([
  ['another length', [1, 2]],
  ['no direction', [0, 0, 0, 0, 0]],
  ['numbers that are none', [NaN, 1, 1, 1, 1]],
  ['infinite numbers', [Infinity, 1, 1, 1, 1]],
  ['no numbers', []],
  ['too many numbers', Array.from({ length: 5_000 }, () => 1)],
])('refuses a vector with %s, and keeps the index usable', (_, vector) => {
  const file = build(pages);
  {
    using writer = openVectorWriter(file, { model });
    const [first, second] = writer.missing;
    if (first === undefined || second === undefined) throw new Error('There are no passages.');
    writer.add([first], [vectorOf('heron')]);
    expect(() => writer.add([second], [vector])).toThrow(/embedding model/);
    expect(() => writer.add([second], [])).toThrow(/0 vectors for 1 texts/);
  }
  expect(find(file, { vector: vectorOf('heron') })[0]).toBe('a');
  expect(find(file, { query: 'crane' })).toEqual(['b']);
});

it('refuses too long a vector as the first one, too', () => {
  using writer = openVectorWriter(build(pages), { model });
  const long = Array.from({ length: 4_097 }, () => 1);
  expect(() => writer.add(writer.missing.slice(0, 1), [long])).toThrow('at most 4096 numbers');
});

it('ignores a question’s vector of another length', () => {
  const file = build(pages);
  embed(file);
  expect(find(file, { query: 'crane', vector: [1, 0] })).toEqual(['b']);
});
