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

/** A model for which only texts with one particular word are close to the question. */
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

it('promotes a passage whose meaning is closer to the question', async () => {
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

it('caches no more vectors than allowed', async () => {
  const model = modelFor('third');
  const rerank = createReranker({ model, log: recordingLog().log, mostNumbers: 4 });
  await rerank('question', hits, live);
  await rerank('question', hits, live);
  expect(model.doEmbedCalls[1]?.values).toHaveLength(3);
});

it('keeps no vector whose length differs from the question’s, and ranks by meaning once the model is right', async () => {
  const model = modelFor('third');
  const right = model.doEmbed.bind(model);
  const wrong = [[1], [0, 0, 1]];
  model.doEmbed = async (call) => {
    const answer = await right(call);
    const vector = wrong.shift();
    return vector === undefined ? answer : { ...answer, embeddings: answer.embeddings.with(0, vector) };
  };
  const { log, lines } = recordingLog();
  const rerank = createReranker({ model, log, pauseMs: 0 });
  expect(await rerank('question', hits, live)).toEqual(hits);
  expect(await rerank('question', hits, live)).toEqual(hits);
  expect(pathsOf(await rerank('question', hits, live)).indexOf('third')).toBeLessThan(2);
  expect(lines).toEqual([expect.stringContaining('differ in length'), expect.stringContaining('differ in length')]);
});

it('keeps no vector that is longer than any model makes', async () => {
  const model = new MockEmbeddingModelV4({
    maxEmbeddingsPerCall: 100,
    doEmbed: async ({ values }) => ({
      embeddings: values.map(() => Array.from({ length: 100_000 }, () => 1)),
      warnings: [],
    }),
  });
  const { log, lines } = recordingLog();
  const rerank = createReranker({ model, log, pauseMs: 0 });
  for (let times = 0; times < 2; times += 1) expect(await rerank('question', hits, live)).toEqual(hits);
  expect(model.doEmbedCalls.map(({ values }) => values.length)).toEqual([5, 5]);
  expect(lines[0]).toContain('not 100000');
});

it('keeps the order by words, and pauses calls to the model, when a call fails', async () => {
  const model = modelFor('third', () => Promise.reject(new Error('down')));
  const { log, lines } = recordingLog();
  const rerank = createReranker({ model, log });
  expect(await rerank('question', hits, live)).toEqual(hits);
  expect(await rerank('question', hits, live)).toEqual(hits);
  expect(model.doEmbedCalls).toHaveLength(1);
  expect(lines).toHaveLength(1);
});

it('does not wait for a slow model, and uses its result later', async () => {
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

it('stops the call when the reader leaves, without counting it as a failure', async () => {
  const reader = new AbortController();
  const model = new MockEmbeddingModelV4({
    maxEmbeddingsPerCall: 100,
    // one that ignores its signal, too
    doEmbed: () => new Promise(() => undefined),
  });
  const { log, lines } = recordingLog();
  const found = createReranker({ model, log, patienceMs: 60_000 })('question', hits, reader.signal);
  reader.abort();
  expect(await found).toEqual(hits);
  expect(lines).toEqual([]);
});

it('requests more candidates from the index than are needed, and returns as many as are', async () => {
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
