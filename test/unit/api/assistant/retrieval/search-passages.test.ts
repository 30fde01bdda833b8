import { expect, it } from 'vitest';
import { createPassageSearch } from '../../../../../api/assistant/retrieval/search-passages.ts';
import type { SearchHit, SearchRequest } from '../../../../../search/query/search-request.ts';

const live = new AbortController().signal;
const query = 'How do I pair a lamp and how do I reset the timer?';
const hitOf = (path: string): SearchHit => ({
  path,
  anchor: null,
  title: path,
  headings: [],
  content: path,
  metadata: { title: path },
  score: 0.9,
});

function indexOf(asked: SearchRequest[]) {
  return {
    weakScore: 0.4,
    vectorModel: 'x/y',
    search: (request: SearchRequest) => {
      asked.push(request);
      return Promise.resolve([hitOf(request.query), hitOf('both')]);
    },
  };
}

it('searches by the meaning of each part of a compound question, and for a single one once', async () => {
  const asked: SearchRequest[] = [];
  const embedder = { name: 'x/y', embed: (text: string) => Promise.resolve([text.length]) };
  const search = createPassageSearch(embedder, null);
  const hits = await search(indexOf(asked), { query, limit: 3 }, live);
  expect(hits.map(({ path }) => path)).toEqual([query, 'How do I pair a lamp', 'how do I reset the timer?']);
  expect(asked.map(({ vector }) => vector)).toEqual(asked.map((one) => [one.query.length]));
  await search(indexOf(asked), { query: 'How do I pair a lamp?', limit: 3 }, live);
  expect(asked).toHaveLength(4);
});

it('reranks the passages of each part by that part', async () => {
  const ranked: string[] = [];
  const search = createPassageSearch(null, (text, hits) => {
    ranked.push(text);
    return Promise.resolve(hits.toReversed());
  });
  const hits = await search(indexOf([]), { query, limit: 2 }, live);
  expect(hits.map(({ path }) => path)).toEqual(['both', 'How do I pair a lamp']);
  expect(ranked).toEqual([query, 'How do I pair a lamp', 'how do I reset the timer?']);
});

it.each([
  ['once, by words, and leaves the parts to it', null, [undefined]],
  [
    'for the question and each of its parts once',
    (_query: string, hits: SearchHit[]) => Promise.resolve(hits),
    [true, true, true],
  ],
] as const)('searches an index whose model is down %s', async (_how, rerank, single) => {
  const asked: SearchRequest[] = [];
  const embedder = { name: 'x/y', embed: () => Promise.resolve(null) };
  await createPassageSearch(embedder, rerank)(indexOf(asked), { query, limit: 3 }, live);
  expect(asked.map(({ isSingle }) => isSingle)).toEqual(single);
  expect(asked.every(({ vector }) => vector === undefined)).toBe(true);
});

it('leaves the parts to an index that has no vectors of the model', async () => {
  const asked: SearchRequest[] = [];
  const embedder = { name: 'x/other', embed: () => Promise.reject(new Error('Not asked.')) };
  await createPassageSearch(embedder, null)(indexOf(asked), { query, limit: 3 }, live);
  expect(asked).toEqual([{ query, limit: 3 }]);
});
