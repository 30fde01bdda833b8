import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import type { EmbeddingModelV4 } from '@ai-sdk/provider';
import type { Logger } from 'pino';
import type { EmbeddingModelRegistry } from '../../models/registry.ts';

export interface NamedEmbeddingModel {
  /** As `provider/model`. */
  name: string;
  model: EmbeddingModelV4;
}

/** Resolves the configured model; null for none. Throws UnknownModelError. */
export function embeddingModelOf(name: string | null, models: EmbeddingModelRegistry): NamedEmbeddingModel | null {
  return name === null ? null : { name, model: models.embeddingModel(name) };
}

export interface QueryEmbedder {
  /** The model, as `provider/model`. */
  name: string;
  /** Returns the vector of a query; null when the model fails or is late. */
  embed(query: string, signal: AbortSignal): Promise<readonly number[] | null>;
}

export interface QueryEmbedderDeps extends NamedEmbeddingModel {
  log: Logger;
  /** Time an answer waits for the vector. A slower call still fills the cache. */
  patienceMs?: number;
  /** Time without calls after the model failed or was late. */
  pauseMs?: number;
}

const load = createRequire(import.meta.url);

/** Longest query embedded, in characters: about 500 tokens, as for passages. */
const longestQuery = 2_000;
const longestCallMs = 15_000;
/** Vectors of queries are short-lived: the same question comes again while it is typed, retried, or listed in pages. */
const mostCached = 500;

/** Creates the embedder of queries. While its model fails or is late, searches go on by words. */
export function createQueryEmbedder(deps: QueryEmbedderDeps): QueryEmbedder {
  const { name, model, log, patienceMs = 800, pauseMs = 30_000 } = deps;
  // only a process with an embedding model loads the SDK
  const { embed }: typeof import('ai') = load('ai');
  const vectors = new Map<string, readonly number[]>();
  let pausedUntil = 0;

  function pause(problem: string, err?: unknown): void {
    pausedUntil = Date.now() + pauseMs;
    log.warn({ err }, `the embedding model ${problem}; searching by words for a while`);
  }

  async function vectorOf(value: string, signal: AbortSignal): Promise<readonly number[]> {
    const abortSignal = AbortSignal.any([signal, AbortSignal.timeout(longestCallMs)]);
    const { embedding } = await embed({ model, value, maxRetries: 0, abortSignal });
    for (const oldest of vectors.keys()) {
      if (vectors.size < mostCached) break;
      vectors.delete(oldest);
    }
    vectors.set(value, embedding);
    return embedding;
  }

  return {
    name,
    async embed(query, signal) {
      const value = query.slice(0, longestQuery);
      const known = vectors.get(value);
      if (known !== undefined) return known;
      if (value.trim() === '' || Date.now() < pausedUntil) return null;
      const waiting = new AbortController();
      const call = vectorOf(value, signal);
      // a late call may fail silently, because its lateness is already logged
      call.catch(() => undefined);
      try {
        const late = delay(patienceMs, null, { signal: AbortSignal.any([signal, waiting.signal]) });
        const vector = await Promise.race([call, late]);
        if (vector === null) pause('is too slow');
        return vector;
      } catch (error) {
        if (!signal.aborted) pause('failed', error);
        return null;
      } finally {
        waiting.abort();
      }
    },
  };
}
