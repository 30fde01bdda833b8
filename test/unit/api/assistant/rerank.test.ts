import { MockEmbeddingModelV4 } from 'ai/test';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createPassageSearch } from '../../../../api/assistant/search-passages.ts';
import { createReranker } from '../../../../api/assistant/rerank.ts';
import type { SearchHit } from '../../../../search/query/search-request.ts';
import type { SiteIndex } from '../../../../search/query/site-index.ts';

const live = new AbortController().signal;

function hit(content: string): SearchHit {
  return { path: content, anchor: null, title: content, headings: [], content, metadata: { title: content }, score: 1 };
}

const hits = ['first', 'second', 'third', 'fourth'].map(hit);
const pathsOf = (found: SearchHit[]) => found.map(({ path }) => path);

/** A model for which only the texts with one word are near the question. */
function modelFor(word: string, embed: () => Promise<void> = () => Promise.resolve()) {
  return new MockEmbeddingModelV4({
    maxEmbeddingsPerCall: 100,
    doEmbed: async ({ values }) => {
      await embed();
      const embeddings = values.map((text, at) => (at === 0 || text.includes(word) ? [1, 0] : [0, 1]));
      return { embeddings, warnings: [] };
    },
  });
}

function recordingLog() {
  const lines: string[] = [];
  return { lines, log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }) };
}

it('puts a passage forward whose meaning is nearer to the question', async () => {
  const rerank = createReranker({ model: modelFor('third'), log: recordingLog().log });
  const ranked = pathsOf(await rerank('question', hits, live));
  expect(ranked.toSorted()).toEqual(pathsOf(hits).toSorted());
  expect(ranked.indexOf('third')).toBeLessThan(2);
});

it('embeds a passage once', async () => {
  const model = modelFor('third');
  const rerank = createReranker({ model, log: recordingLog().log });
  const before = await rerank('question', hits, live);
  expect(await rerank('question', hits, live)).toEqual(before);
  expect(model.doEmbedCalls.map(({ values }) => values.length)).toEqual([5, 1]);
});

it('keeps no more vectors than it may', async () => {
  const model = modelFor('third');
  const rerank = createReranker({ model, log: recordingLog().log, mostKept: 2 });
  await rerank('question', hits, live);
  await rerank('question', hits, live);
  expect(model.doEmbedCalls[1]?.values).toHaveLength(3);
});

it('leaves the order by words, and the model alone for a while, when a call fails', async () => {
  const model = modelFor('third', () => Promise.reject(new Error('down')));
  const { log, lines } = recordingLog();
  const rerank = createReranker({ model, log });
  expect(await rerank('question', hits, live)).toEqual(hits);
  expect(await rerank('question', hits, live)).toEqual(hits);
  expect(model.doEmbedCalls).toHaveLength(1);
  expect(lines).toHaveLength(1);
});

it('does not wait for a late model, and uses later what it then said', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const model = modelFor('third', () => promise);
  const rerank = createReranker({ model, log: recordingLog().log, patienceMs: 1, pauseMs: 0 });
  expect(await rerank('question', hits, live)).toEqual(hits);
  resolve();
  const again = async () => {
    await rerank('question', hits, live);
    return model.doEmbedCalls.at(-1)?.values;
  };
  await expect.poll(again, { timeout: 30_000 }).toEqual(['question']);
});

it('stops the call when the reader leaves, without holding it against the model', async () => {
  const reader = new AbortController();
  const model = new MockEmbeddingModelV4({
    maxEmbeddingsPerCall: 100,
    // one that does not heed its signal either
    doEmbed: () => new Promise(() => undefined),
  });
  const { log, lines } = recordingLog();
  const found = createReranker({ model, log, patienceMs: 60_000 })('question', hits, reader.signal);
  reader.abort();
  expect(await found).toEqual(hits);
  expect(lines).toEqual([]);
});

it('asks the index for more candidates than are wanted, and answers as many as are', async () => {
  const limits: number[] = [];
  const index: Pick<SiteIndex, 'search'> = {
    search: ({ limit }) => {
      limits.push(limit);
      return hits.slice(0, limit);
    },
  };
  const search = createPassageSearch((_, found) => Promise.resolve(found.toReversed()));
  const found = await search(index as SiteIndex, { query: 'question', limit: 2 }, live);
  expect([limits, pathsOf(found)]).toEqual([[20], ['fourth', 'third']]);
  await createPassageSearch(null)(index as SiteIndex, { query: 'question', limit: 2 }, live);
  expect(limits).toEqual([20, 2]);
});
