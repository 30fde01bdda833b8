import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { EmbeddingModelV4 } from '@ai-sdk/provider';
import { cosineSimilarity, embedMany } from 'ai';
import type { Logger } from 'pino';
import type { SearchHit } from '../../search/query/search-request.ts';

/** Puts hits in an order that also heeds what they mean; on any trouble with the model they stay as they are. */
export type Reranker = (query: string, hits: SearchHit[], signal: AbortSignal) => Promise<SearchHit[]>;

export interface RerankerDeps {
  model: EmbeddingModelV4;
  log: Logger;
  /** How long an answer waits for the order; a call that takes longer still fills the cache. */
  patienceMs?: number;
  /** How long the model is left alone after it failed or was late. */
  pauseMs?: number;
  /** Vectors of passages that are kept, about 6 KB each. */
  mostKept?: number;
}

/** What a model reads of a passage, about 500 tokens. */
const longestPassage = 2_000;
const longestCallMs = 15_000;
/** Reciprocal rank fusion; a small constant, because there are few candidates. */
const fusionConstant = 10;

/**
 * Makes a reranker from an embedding model: both orders, by words and by meaning, count alike (reciprocal rank fusion). A
 * passage is embedded once, as long as it stays in the cache.
 */
export function createReranker(deps: RerankerDeps): Reranker {
  const { model, log, patienceMs = 800, pauseMs = 30_000, mostKept = 5_000 } = deps;
  const vectors = new Map<string, number[]>();
  let pausedUntil = 0;

  function keep(key: string, vector: number[]): void {
    vectors.delete(key);
    vectors.set(key, vector);
    const [oldest] = vectors.keys();
    if (vectors.size > mostKept && oldest !== undefined) vectors.delete(oldest);
  }

  function pause(problem: { err?: unknown }): void {
    pausedUntil = Date.now() + pauseMs;
    log.warn(problem, 'the embedding model did not help in time; passages are ranked by their words for a while');
  }

  async function similarities(query: string, hits: SearchHit[], signal: AbortSignal): Promise<number[]> {
    const texts = hits.map(textOf);
    const keys = texts.map((text) => createHash('sha256').update(text).digest('base64'));
    const missing = [...new Set(keys)].filter((key) => !vectors.has(key));
    const values = [query, ...missing.map((key) => texts[keys.indexOf(key)] ?? '')];
    const { embeddings } = await embedMany({ model, values, maxRetries: 0, abortSignal: signal });
    const [question = [], ...passages] = embeddings;
    const known = new Map(keys.map((key) => [key, vectors.get(key)]));
    for (const [at, key] of missing.entries()) known.set(key, passages[at]);
    for (const [key, vector] of known) if (vector !== undefined) keep(key, vector);
    return keys.map((key) => cosineSimilarity(question, known.get(key) ?? []));
  }

  return async (query, hits, signal) => {
    if (Date.now() < pausedUntil) return hits;
    const waiting = new AbortController();
    const call = similarities(query, hits, AbortSignal.any([signal, AbortSignal.timeout(longestCallMs)]));
    // one that is late may fail unseen: the pause is told already
    call.catch(() => undefined);
    try {
      const late = delay(patienceMs, null, { signal: AbortSignal.any([signal, waiting.signal]) });
      const scores = await Promise.race([call, late]);
      if (scores !== null) return fuse(hits, scores);
      pause({});
    } catch (error) {
      if (!signal.aborted) pause({ err: error });
    } finally {
      waiting.abort();
    }
    return hits;
  };
}

function textOf({ title, headings, content }: SearchHit): string {
  return `${[title, ...headings].join(' > ')}\n\n${content}`.slice(0, longestPassage);
}

/** Hits come in the order of their words; `scores` says how near each is in meaning. */
function fuse(hits: SearchHit[], scores: number[]): SearchHit[] {
  const byMeaning = hits.map((_, at) => at).toSorted((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0));
  const fused = byMeaning.map((at, rank) => ({
    at,
    weight: 1 / (fusionConstant + at) + 1 / (fusionConstant + rank),
  }));
  // of two that weigh the same, the nearer in meaning stays first
  const ordered = fused.toSorted((one, other) => other.weight - one.weight);
  return ordered.flatMap(({ at }) => hits[at] ?? []);
}
