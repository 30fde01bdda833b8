import { setTimeout as delay } from 'node:timers/promises';
import { MockEmbeddingModelV4 } from 'ai/test';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createQueryEmbedder } from '../../../../../api/assistant/retrieval/embed-query.ts';

const live = new AbortController().signal;

function embedderOf(doEmbed: () => Promise<number[]>, times: { patienceMs?: number; pauseMs?: number } = {}) {
  const lines: string[] = [];
  const model = new MockEmbeddingModelV4({
    doEmbed: async () => ({ embeddings: [await doEmbed()], warnings: [] }),
  });
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  return { model, lines, embedder: createQueryEmbedder({ name: 'x/y', model, queryPrefix: 'query:', log, ...times }) };
}

it('embeds a question once', async () => {
  const { model, embedder } = embedderOf(() => Promise.resolve([1, 0]));
  expect(await embedder.embed('question', live)).toEqual([1, 0]);
  expect(await embedder.embed('question', live)).toEqual([1, 0]);
  expect(model.doEmbedCalls).toMatchObject([{ values: ['query: question'] }]);
});

it('does without a model that fails, for a while', async () => {
  const { model, lines, embedder } = embedderOf(() => Promise.reject(new Error('down')));
  expect(await embedder.embed('question', live)).toBeNull();
  expect(await embedder.embed('question', live)).toBeNull();
  expect(model.doEmbedCalls).toHaveLength(1);
  expect(lines).toHaveLength(1);
});

it('does not wait for a slow model, but keeps what it says late', async () => {
  const { promise, resolve } = Promise.withResolvers<number[]>();
  const { embedder, lines } = embedderOf(() => promise, { patienceMs: 5 });
  expect(await embedder.embed('question', live)).toBeNull();
  expect(lines.join()).toContain('too slow');
  resolve([0, 1]);
  await expect.poll(() => embedder.embed('question', live)).toEqual([0, 1]);
});

it('reports nothing when the reader is gone', async () => {
  const gone = new AbortController();
  const { embedder, lines } = embedderOf(() => delay(60_000, [1], { signal: gone.signal }));
  const answer = embedder.embed('question', gone.signal);
  gone.abort();
  expect(await answer).toBeNull();
  expect(lines).toEqual([]);
});
