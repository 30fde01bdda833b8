import type { EmbeddingModelV4 } from '@ai-sdk/provider';
import type { Logger } from 'pino';
import type { ReplyStore } from '../../db/sites/replies.ts';
import type { ThreadStore } from '../../db/sites/threads.ts';
import type { ModelRegistry } from '../../models/registry.ts';
import type { PriceBook } from '../../models/prices.ts';
import { createAnswerBudget } from './answer-budget.ts';
import { createAssistant } from './assistant.ts';
import type { Assistant } from './assistant.ts';
import { createPassageSearch } from './search-passages.ts';
import type { SearchPassages } from './search-passages.ts';
import { createFlushQueue } from './flush-queue.ts';
import type { ScheduleFlush } from './flush-queue.ts';
import { LoadShedder } from './load-shedder.ts';
import { OpenStreams } from './open-streams.ts';
import { SiteIndexes } from './site-indexes.ts';
import { createReranker } from './rerank.ts';
import type { StreamTimes } from './routes.ts';
import type { ApiStores } from '../stores.ts';

/** What the assistant's routes share: the open indexes, the running streams, the model. */
export interface AssistantParts extends AsyncDisposable {
  assistant: Assistant;
  searchPassages: SearchPassages;
  indexes: SiteIndexes;
  streams: OpenStreams;
  shedder: LoadShedder;
  scheduleFlush: ScheduleFlush;
  replies: ReplyStore;
  threads: ThreadStore;
  times: StreamTimes;
}

export interface AssistantPartsDeps {
  stores: Pick<ApiStores, 'threads' | 'replies' | 'indexes' | 'answerSpending'>;
  log: Logger;
  models: Pick<ModelRegistry, 'languageModel'>;
  /** `provider/model` of the answers. */
  modelName: string;
  prices: PriceBook;
  /** What an organization may spend a day, in millionths of a US dollar; null: any amount. */
  budgetMicros: number | null;
  /** Helps to rank passages by their meaning; null: they are ranked by their words alone. */
  embeddingModel: EmbeddingModelV4 | null;
  /** Folder for the files of the indexes in use. */
  cacheDirectory: string;
  times?: Partial<StreamTimes & { modelStalledMs: number; indexPollMs: number; maxLoopDelayMs: number }>;
  longestText?: number;
}

const maxSteps = 4;

const defaultTimes = {
  keepAliveMs: 10_000,
  modelStalledMs: 25_000,
  answerMs: 300_000,
  detachedMs: 120_000,
  deliveredAfterMs: 500,
  writerDeadSeconds: 10,
  resumePollMs: 100,
  indexPollMs: 250,
  maxLoopDelayMs: 100,
};

/** Throws UnknownModelError when there is no such model, or no key for it. */
export function createAssistantParts({
  stores,
  log,
  models,
  modelName,
  prices,
  budgetMicros,
  embeddingModel,
  cacheDirectory,
  times,
  longestText = 200_000,
}: AssistantPartsDeps): AssistantParts {
  const allTimes = { ...defaultTimes, ...times };
  const { threads, replies } = stores;
  const model = models.languageModel(modelName);
  const rerank = embeddingModel === null ? null : createReranker({ model: embeddingModel, log });
  const searchPassages = createPassageSearch(rerank);
  const indexes = new SiteIndexes({
    store: stores.indexes,
    directory: cacheDirectory,
    logger: log,
    pollMs: allTimes.indexPollMs,
  });
  const shedder = new LoadShedder(allTimes.maxLoopDelayMs);
  return {
    assistant: createAssistant({
      model,
      modelName,
      threads,
      holdAnswer: createAnswerBudget({ spending: stores.answerSpending, prices, modelName, maxSteps, budgetMicros }),
      searchPassages,
      logger: log,
      maxSteps,
      modelStalledMs: allTimes.modelStalledMs,
      longestText,
    }),
    searchPassages,
    indexes,
    streams: new OpenStreams(),
    shedder,
    scheduleFlush: createFlushQueue(),
    replies,
    threads,
    times: allTimes,
    async [Symbol.asyncDispose]() {
      shedder[Symbol.dispose]();
      await indexes[Symbol.asyncDispose]();
    },
  };
}
