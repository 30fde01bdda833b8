import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import type { EmbeddingModelV4 } from '@ai-sdk/provider';
import type { Logger } from 'pino';
import type { SearchHit } from '../../search/query/search-request.ts';

/** Reorders hits by words and meaning. If the model fails or is late, the order stays unchanged. */
export type Reranker = (query: string, hits: SearchHit[], signal: AbortSignal) => Promise<SearchHit[]>;

export interface RerankerDeps {
  model: EmbeddingModelV4;
  log: Logger;
  /** Time an answer waits for the new order. A slower call still fills the cache. */
  patienceMs?: number;
  /** Time without calls after the model failed or was late. */
  pauseMs?: number;
  /** Maximum size of the cached vectors of passages, in numbers of 8 bytes: 5,000 vectors of 1,536 dimensions. */
  mostNumbers?: number;
}

const load = createRequire(import.meta.url);

/** Longest text embedded per passage, in characters: about 500 tokens. */
const longestPassage = 2_000;
const longestCallMs = 15_000;
/** Maximum length of a vector; embedding models have up to 4,096 dimensions. */
const mostDimensions = 16_384;
/** Constant of the reciprocal rank fusion; small because there are few candidates. */
const fusionConstant = 10;

/**
 * Creates a reranker from an embedding model. The orders by words and by meaning have equal weight (reciprocal rank
 * fusion). A passage is not embedded again while its vector is in the cache.
 */
export function createReranker(deps: RerankerDeps): Reranker {
  const { model, log, patienceMs = 800, pauseMs = 30_000, mostNumbers = 5_000 * 1_536 } = deps;
  // only a process with an embedding model loads the SDK
  const { cosineSimilarity, embedMany }: typeof import('ai') = load('ai');
  const vectors = new Map<string, number[]>();
  let numbers = 0;
  let pausedUntil = 0;

  function forget(key: string): void {
    numbers -= vectors.get(key)?.length ?? 0;
    vectors.delete(key);
  }

  function keep(key: string, vector: number[]): void {
    forget(key);
    vectors.set(key, vector);
    numbers += vector.length;
    for (const oldest of vectors.keys()) {
      if (numbers <= mostNumbers) break;
      forget(oldest);
    }
  }

  function pause(problem: string, err?: unknown): void {
    pausedUntil = Date.now() + pauseMs;
    log.warn({ err }, `the embedding model ${problem}; using the lexical ranking for a while`);
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
    const dimensions = question.length;
    if (dimensions === 0 || dimensions > mostDimensions)
      throw new Error(`A vector of an embedding model has 1 to ${mostDimensions} numbers, not ${dimensions}.`);
    let isComparable = true;
    for (const [key, vector = []] of known) {
      if (vector.length === dimensions) {
        keep(key, vector);
        continue;
      }
      // another model may now have this name, so the next question embeds the passage again
      forget(key);
      isComparable = false;
    }
    if (!isComparable) throw new Error('The vectors of the embedding model differ in length.');
    return keys.map((key) => cosineSimilarity(question, known.get(key) ?? []));
  }

  return async (query, hits, signal) => {
    if (Date.now() < pausedUntil) return hits;
    const waiting = new AbortController();
    const call = similarities(query, hits, AbortSignal.any([signal, AbortSignal.timeout(longestCallMs)]));
    // a late call may fail silently, because its lateness is already logged
    call.catch(() => undefined);
    try {
      const late = delay(patienceMs, null, { signal: AbortSignal.any([signal, waiting.signal]) });
      const scores = await Promise.race([call, late]);
      if (scores !== null) return fuse(hits, scores);
      pause('is too slow');
    } catch (error) {
      if (!signal.aborted) pause('failed', error);
    } finally {
      waiting.abort();
    }
    return hits;
  };
}

function textOf({ title, headings, content }: SearchHit): string {
  return `${[title, ...headings].join(' > ')}\n\n${content}`.slice(0, longestPassage);
}

/** Merges the order of `hits`, ranked by words, with the order of `scores`, their similarity in meaning. */
function fuse(hits: SearchHit[], scores: number[]): SearchHit[] {
  const byMeaning = hits.map((_, at) => at).toSorted((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0));
  const fused = byMeaning.map((at, rank) => ({
    at,
    weight: 1 / (fusionConstant + at) + 1 / (fusionConstant + rank),
  }));
  // for equal weights, the hit closer in meaning stays first
  const ordered = fused.toSorted((one, other) => other.weight - one.weight);
  return ordered.flatMap(({ at }) => hits[at] ?? []);
}
