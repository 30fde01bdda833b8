import pino from 'pino';
import { embedIndexInThread } from '../../../activities/sites/index-embedding.ts';
import { createQueryEmbedder, embeddingModelOf } from '../../../api/assistant/retrieval/embed-query.ts';
import { createPassageSearch } from '../../../api/assistant/retrieval/search-passages.ts';
import type { EmbeddingChoice } from '../../../lib/inputs/embedding-choice.ts';
import { createModelRegistry, type ModelSettings } from '../../../models/registry.ts';
import type { SiteIndex } from '../../../search/query/site-index.ts';
import { rankOf, requestOf, type Question } from './evaluate.ts';

/** An embedding model of a server that speaks OpenAI's protocol. */
export interface MeasuredModel {
  choice: EmbeddingChoice;
  settings: ModelSettings;
}

/** Gives each passage of an index its vector. Throws when the model fails. */
export async function addVectors(file: string, { choice, settings }: MeasuredModel): Promise<void> {
  const { signal } = new AbortController();
  const { problem } = await embedIndexInThread({ file, ...choice, settings, signal });
  if (problem !== null) throw new Error(problem);
}

/** Returns the place of the first right page for each question, as the assistant finds it by words and meaning. */
export async function ranksByMeaning(
  index: SiteIndex,
  questions: Question[],
  { choice, settings }: MeasuredModel,
): Promise<number[]> {
  const model = embeddingModelOf(choice, createModelRegistry(settings));
  if (model === null) return [];
  const log = pino({ level: 'silent' });
  const search = createPassageSearch(createQueryEmbedder({ ...model, log, timeoutMs: 60_000 }), null);
  const { vectorModel, weakScore } = index;
  const leased = {
    vectorModel,
    weakScore,
    search: async (request: Parameters<SiteIndex['search']>[0]) => index.search(request),
  };
  const { signal } = new AbortController();
  const ranks: number[] = [];
  for (const question of questions) {
    const hits = await search(leased, requestOf(index, question), signal);
    ranks.push(
      rankOf(
        hits.map(({ path }) => path),
        question,
      ),
    );
  }
  return ranks;
}
