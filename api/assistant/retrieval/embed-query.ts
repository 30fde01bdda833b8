import { createRequire } from 'node:module';
import type { EmbeddingModelV4 } from '@ai-sdk/provider';
import type { Logger } from 'pino';
import { prefixed, embeddingName, type EmbeddingChoice } from '../../../lib/inputs/embedding-choice.ts';
import type { EmbeddingModelRegistry } from '../../../models/registry.ts';
import { createOptionalModel } from './optional-model.ts';

export interface NamedEmbeddingModel {
  /** As `provider/model`, with the prefix of passages if there is one. */
  name: string;
  model: EmbeddingModelV4;
  queryPrefix: string;
}

/** Resolves the configured model; null for none. Throws UnknownModelError. */
export function embeddingModelOf(
  choice: EmbeddingChoice | null,
  models: EmbeddingModelRegistry,
): NamedEmbeddingModel | null {
  if (choice === null) return null;
  return {
    name: embeddingName(choice),
    model: models.embeddingModel(choice.model),
    queryPrefix: choice.queryPrefix,
  };
}

export interface QueryEmbedderDeps extends NamedEmbeddingModel {
  log: Logger;
  /** Time an answer waits for the vector. A slower call still fills the cache. */
  timeoutMs?: number;
  /** Time without calls after the model failed or was late. */
  pauseMs?: number;
}

const load = createRequire(import.meta.url);

/** Longest query embedded, in characters: about 500 tokens, as for passages. */
const maxQueryLength = 2_000;
/** Vectors of queries are short-lived: the same question comes again while it is typed, retried, or listed in pages. */
const maxCached = 500;

export type QueryEmbedder = ReturnType<typeof createQueryEmbedder>;

/** Creates the embedder of queries. While its model fails or is late, searches continue by words. */
export function createQueryEmbedder(deps: QueryEmbedderDeps) {
  const { name, model, queryPrefix, log, timeoutMs = 800, pauseMs } = deps;
  const optional = createOptionalModel({ log, name: 'embedding', instead: 'searching by words', timeoutMs, pauseMs });
  // only a process with an embedding model loads the SDK
  const { embed }: typeof import('ai') = load('ai');
  const vectors = new Map<string, readonly number[]>();

  async function vectorOf(value: string, abortSignal: AbortSignal): Promise<readonly number[]> {
    const text = prefixed(queryPrefix, value);
    const { embedding } = await embed({ model, value: text, maxRetries: 0, abortSignal });
    for (const oldest of vectors.keys()) {
      if (vectors.size < maxCached) break;
      vectors.delete(oldest);
    }
    vectors.set(value, embedding);
    return embedding;
  }

  return {
    /** The name of the model; an index has it, too, if its vectors are comparable. */
    name,
    /** Returns the vector of a query; null when the model fails or is late. */
    async embed(query: string, signal: AbortSignal): Promise<readonly number[] | null> {
      const value = query.slice(0, maxQueryLength);
      const known = vectors.get(value);
      if (known !== undefined) return known;
      return value.trim() === '' ? null : optional.ask((abortSignal) => vectorOf(value, abortSignal), signal);
    },
  };
}
