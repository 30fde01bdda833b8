import type { ServerResponse } from 'node:http';
import type { RerankingModelV4 } from '@ai-sdk/provider';
import type { Logger } from 'pino';
import type { Counter } from 'prom-client';
import type { ThreadStore } from '../../../db/sites/threads.ts';
import type { ModelRegistry } from '../../../models/registry.ts';
import type { PriceBook } from '../../../models/prices.ts';
import { draining, overloaded } from '../../http/errors.ts';
import { createStreamOutput, type StreamOutput } from '../../http/streams/stream-output.ts';
import { createAnswerBudget, type AnswerBudgetDeps } from '../answer-budget.ts';
import {
  answerQuestion,
  answerWhole,
  type AnswerStream,
  type AnswerTimes,
  type StreamedQuestion,
  type WholeAnswer,
} from '../answer-question.ts';
import { createAnswerEndings } from '../answer-endings.ts';
import { createAssistant, type Assistant, type AssistantDeps } from '../assistant.ts';
import { createReranker } from '../retrieval/rerank-passages.ts';
import { createQueryRewriter } from '../retrieval/rewrite-query.ts';
import { createPassageSearch } from '../retrieval/search-passages.ts';
import type { SearchPassages } from '../retrieval/search-passages.ts';
import { createFlushQueue } from '../../http/streams/flush-queue.ts';
import { LoadShedder } from '../load-shedder.ts';
import { OpenStreams } from '../open-streams.ts';
import { resumeReply, stopReply, type ResumeRequest, type ResumeTimes } from '../resume-reply.ts';
import { createSearchPool } from '../../../search/query/search-pool.ts';
import type { Owner } from '../../../db/caller.ts';
import { SiteIndexes } from '../site-indexes.ts';
import { createQueryEmbedder, type NamedEmbeddingModel } from '../retrieval/embed-query.ts';
import type { IndexChangeStore } from '../../../db/for-service/index-changes.ts';
import type { ApiStores } from '../../stores.ts';

/** Operations used by the routes that answer. */
export interface Answers {
  /**
   * Throws ApiError when this process must not start another answer: while it drains, or, for those with the most answers
   * in progress, while it is overloaded.
   */
  assertCapacity(owner: Owner): void;
  answerQuestion(question: StreamedQuestion): Promise<AnswerStream>;
  answerWhole(question: Parameters<typeof answerWhole>[1]): Promise<WholeAnswer>;
  resumeReply(request: ResumeRequest): Promise<AnswerStream | null>;
  stopReply(request: ResumeRequest): Promise<void>;
}

/** Components shared by the assistant's routes, such as the open indexes, the running streams and the model. */
export interface AssistantParts extends AsyncDisposable {
  assistant: Assistant;
  /** Its model, as `provider/model`. */
  modelName: string;
  /** Creates an assistant with another model. Throws UnknownModelError when the model is unknown or has no key. */
  assistantOf(modelName: string): Assistant;
  searchPassages: SearchPassages;
  /** Counts answers by how they ended, and questions by what became of their rewriting. */
  counters: Counter[];
  indexes: SiteIndexes;
  streams: OpenStreams;
  answers: Answers;
  openOutput(response: ServerResponse, keepAlive: string): StreamOutput;
  threads: ThreadStore;
}

interface AssistantTimes extends AnswerTimes, ResumeTimes {
  keepAliveMs: number;
  modelStalledMs: number;
  modelStartMs: number;
  indexPollMs: number;
  maxLoopDelayMs: number;
  /** Time limit of a search, with its wait for a thread. */
  searchMs: number;
  /** Time an answer waits for the reranking model. */
  rerankingMs: number;
  /** Time a question waits for its rewritten query. */
  rewritingMs: number;
}

export interface AssistantPartsDeps {
  stores: Pick<ApiStores, 'threads' | 'replies' | 'indexes' | 'answerSpending'>;
  indexChanges: IndexChangeStore;
  log: Logger;
  models: Pick<ModelRegistry, 'languageModel'>;
  /** Model that answers, as `provider/model`. */
  modelName: string;
  prices: PriceBook;
  /** Daily budget of an organization, in millionths of a US dollar; null means unlimited. */
  budgetMicros: number | null;
  /** Model of the indexes' vectors; null finds passages by their words alone. */
  embeddingModel: NamedEmbeddingModel | null;
  /** Model that orders the passages found; null keeps their order. */
  rerankingModel: RerankingModelV4 | null;
  /** Directory for the files of the indexes in use. */
  cacheDirectory: string;
  /** Reports that a newer index would be announced, and that none has been lately; by default, one never is. */
  isQuiet?: () => boolean;
  times?: Partial<AssistantTimes>;
  maxTextLength?: number;
}

const maxSteps = 4;

const defaultTimes: AssistantTimes = {
  keepAliveMs: 10_000,
  modelStalledMs: 25_000,
  modelStartMs: 120_000,
  answerMs: 300_000,
  detachedMs: 120_000,
  deliveredAfterMs: 500,
  writerDeadSeconds: 10,
  resumePollMs: 100,
  indexPollMs: 250,
  maxLoopDelayMs: 100,
  searchMs: 10_000,
  rerankingMs: 1_500,
  rewritingMs: 1_500,
};

/** Creates the assistant's components. Throws UnknownModelError when the model is unknown or has no key. */
export function createAssistantParts({
  stores,
  indexChanges,
  log,
  models,
  modelName,
  prices,
  budgetMicros,
  embeddingModel,
  rerankingModel,
  cacheDirectory,
  isQuiet = () => false,
  times,
  maxTextLength = 200_000,
}: AssistantPartsDeps): AssistantParts {
  const allTimes = { ...defaultTimes, ...times };
  const { threads, replies } = stores;
  const embedQuery = embeddingModel === null ? null : createQueryEmbedder({ ...embeddingModel, log });
  const rerank =
    rerankingModel === null ? null : createReranker({ model: rerankingModel, log, timeoutMs: allTimes.rerankingMs });
  const searchPassages = createPassageSearch(embedQuery, rerank);
  const budgetOf = (model: Pick<AnswerBudgetDeps, 'model' | 'modelName' | 'outputTokenLimit'>) =>
    createAnswerBudget({ ...model, spending: stores.answerSpending, prices, budgetMicros });
  const queries = createQueryRewriter({
    languageModel: models.languageModel,
    budgetOf,
    log,
    timeoutMs: allTimes.rewritingMs,
  });
  const indexes = new SiteIndexes({
    store: stores.indexes,
    changes: indexChanges,
    searches: createSearchPool({ deadlineMs: allTimes.searchMs }),
    directory: cacheDirectory,
    logger: log,
    pollMs: allTimes.indexPollMs,
    isQuiet,
  });
  const shedder = new LoadShedder(allTimes.maxLoopDelayMs);
  const streams = new OpenStreams();
  const schedule = createFlushQueue();
  const endings = createAnswerEndings();
  function assistantOf(modelName: string, onEnded?: AssistantDeps['onEnded']): Assistant {
    const model = models.languageModel(modelName);
    return createAssistant({
      threads,
      reserveCall: budgetOf({ model, modelName }),
      rewriteQuery: queries.rewrite,
      searchPassages,
      logger: log,
      maxSteps,
      modelStalledMs: allTimes.modelStalledMs,
      modelStartMs: allTimes.modelStartMs,
      maxTextLength,
      onEnded,
    });
  }
  const assistant = assistantOf(modelName, (ending) => endings.inc({ ending }));
  const shared = { assistant, indexes, replies, streams, times: allTimes, logger: log };
  return {
    assistant,
    modelName,
    assistantOf: (name) => assistantOf(name),
    searchPassages,
    counters: [endings, queries.outcomes],
    indexes,
    streams,
    answers: {
      assertCapacity({ organizationId }) {
        if (streams.isDraining) throw draining();
        if (shedder.isOverloaded && streams.hasShare(organizationId)) throw overloaded();
      },
      answerQuestion: (question) => answerQuestion(shared, question),
      answerWhole: (question) => answerWhole(shared, question),
      resumeReply: (request) => resumeReply(shared, request),
      stopReply: (request) => stopReply(shared, request),
    },
    openOutput: (response, keepAlive) =>
      createStreamOutput({ response, keepAlive, keepAliveMs: allTimes.keepAliveMs, schedule }),
    threads,
    async [Symbol.asyncDispose]() {
      shedder[Symbol.dispose]();
      await indexes[Symbol.asyncDispose]();
    },
  };
}
