import { performance } from 'node:perf_hooks';
import type { Logger } from 'pino';
import { newId } from '../../db/ids.ts';
import { lazily } from '../../lib/lazily.ts';
import type { SiteRow } from '../../db/sites/sites.ts';
import { type Source, type ThreadStore } from '../../db/sites/threads.ts';
import type { PricedUsage } from '../../models/prices.ts';
import type { TokenUsage } from '../../workflows/contract/job.ts';
import type { SearchHit } from '../../search/query/search-request.ts';
import type { AnswerEnding } from './answer-endings.ts';
import type { LeasedIndex } from './site-indexes.ts';
import type { CheckedAnswer } from './checked-answer.ts';
import { isSentence } from './citations/citations.ts';
import type { QueryRewriter } from './retrieval/rewrite-query.ts';
import type { SearchPassages } from './retrieval/search-passages.ts';
import { GenerationError, reserveNext, type GenerateOptions } from './generate.ts';
import type { MessageRequest } from './message-request.ts';
import { docsLocationOf } from './docs-location.ts';
import { pathOnSite } from './path-on-site.ts';
import { isAnswer, notFoundSentence, promptOf } from './prompt.ts';
import type { Reply, TakePart } from './reply.ts';
import type { ReservedCall, ReserveCall } from './answer-budget.ts';
import { retrieve, urlOf } from './retrieve.ts';

export interface AssistantDeps {
  threads: ThreadStore;
  reserveCall: ReserveCall;
  rewriteQuery: QueryRewriter['rewrite'];
  searchPassages: SearchPassages;
  logger: Logger;
  /** Maximum number of model calls per answer. */
  maxSteps: number;
  /** Time without output after which a model counts as stalled. */
  modelStalledMs: number;
  /** The same before the first output of a call. */
  modelStartMs: number;
  /** Longest text of one model call, in characters. */
  maxTextLength: number;
  /** Called when an answer has ended. */
  onEnded?(ending: AnswerEnding): void;
}

interface AnswerRequest {
  site: SiteRow;
  /** The site's index, which must stay open until the reply has ended. */
  index: LeasedIndex;
  request: MessageRequest;
  /** Aborts retrieval and the model call. */
  signal: AbortSignal;
}

export interface Assistant {
  /** Starts an answer by resolving the thread and retrieving passages. The model is called when the reply is run. */
  reply(request: AnswerRequest): Promise<Reply>;
}

const filesNotRead = 'Attached files are not read; this answer uses only the text of the question.\n\n';
const failureSentence = 'The answer was interrupted by an internal error. Ask again.';

/** Loads the check of answers, with its parser of Markdown, for the first answer. */
const checkedAnswers = lazily(() => import('./checked-answer.ts'));

/** Creates the assistant, which answers questions from a site's pages. */
export function createAssistant(deps: AssistantDeps): Assistant {
  return {
    async reply({ site, index, request: sent, signal }) {
      const { currentPath } = sent;
      const request = {
        ...sent,
        currentPath: currentPath === null ? null : pathOnSite(currentPath, { site, index }),
      };
      const { threadId, isNew } = await deps.threads.resolve(site, request.threadId);
      const opened = isNew ? openThread(deps, site, { threadId, fp: request.fp }) : null;
      const rewritten = await deps.rewriteQuery({ site, index, request, signal });
      const { query } = rewritten;
      const hits = await retrieve(deps.searchPassages, { index, request, query, signal });
      await opened;
      const usage: TokenUsage = { inputTokens: 0, outputTokens: 0 };
      let answerMicros = 0;
      const costMicros = () => rewritten.costMicros() + answerMicros;
      const prompt = promptOf({ request, query, hits, weakScore: index.weakScore, site });
      const promptCharacters = JSON.stringify(prompt).length;
      let reserved: ReservedCall | null = await deps.reserveCall({ site, characters: promptCharacters });
      let { modelName, exceedsBudget } = reserved;
      const messageId = newId('msg_');
      return {
        messageId,
        threadId,
        question: request.question,
        results: hits.map((hit) => ({
          content: hit.content,
          path: hit.path,
          url: urlOf(hit, site.baseUrl),
          title: hit.title,
        })),
        usage: () => usage,
        modelName: () => modelName,
        exceedsBudget: () => exceedsBudget,
        searchQuery: query,
        costMicros,
        async run(take) {
          // the first call was reserved before the reply began, when a refusal could still be its status
          const reserveCall = async (characters: number) => {
            const call = reserved ?? (await reserveNext(deps.reserveCall, { site, characters }));
            reserved = null;
            ({ modelName, exceedsBudget } = call);
            answerMicros += call.maxMicros;
            return {
              ...call,
              async settle(used: PricedUsage) {
                try {
                  answerMicros += (await call.settle(used)) - call.maxMicros;
                } catch (error) {
                  deps.logger.error({ err: error, site: site.id }, 'the cost of an answer could not be settled');
                }
              },
            };
          };
          const prompted = { prompt, promptCharacters, reserveCall };
          const turn = { site, index, request, signal, threadId, messageId, query, hits, usage, ...prompted };
          await answer(deps, { ...turn, modelName: () => modelName, costMicros }, take);
        },
      };
    },
  };
}

export interface Turn extends AnswerRequest, Pick<GenerateOptions, 'prompt' | 'promptCharacters' | 'reserveCall'> {
  threadId: string;
  messageId: string;
  /** Query that was searched for instead of the question; null if the question was. */
  query: string | null;
  hits: SearchHit[];
  usage: TokenUsage;
  /** Returns the model of the latest call, as `provider/model`; it is stored with the answer. */
  modelName(): string;
  /** Returns what the calls so far cost, in millionths of a US dollar. */
  costMicros(): number;
}

/** Forwards the parts of a reply, then stores the turn regardless of how the reply ended. */
async function answer(deps: AssistantDeps, turn: Turn, take: TakePart): Promise<void> {
  const startedAt = performance.now();
  let content = '';
  let firstTokenMs: number | null = null;
  const sources: Source[] = [];
  let ending: AnswerEnding = 'aborted';
  try {
    if (turn.request.hasFiles) await take({ type: 'text', text: filesNotRead });
    const takeTimed: TakePart = (part) => {
      if (part.type === 'text') {
        firstTokenMs ??= Math.round(performance.now() - startedAt);
        content += part.text;
      }
      return take(part);
    };
    const { generateChecked } = await checkedAnswers();
    const answered = await generateChecked(deps, { turn, sources }, takeTimed);
    // an abort that must be reported to the reader carries a GenerationError as its reason
    if (turn.signal.reason instanceof GenerationError) throw turn.signal.reason;
    if (!turn.signal.aborted) {
      ending = 'finished';
      await finish({ ...answered, content: () => content }, turn, takeTimed);
    }
  } catch (error) {
    ending = 'failed';
    deps.logger.error({ err: error, site: turn.site.id, model: turn.modelName() }, 'an answer failed');
    await take({ type: 'failure', message: error instanceof GenerationError ? error.message : failureSentence });
  }
  deps.onEnded?.(ending);
  await store(deps, turn, {
    content,
    sources,
    ending,
    firstTokenMs,
    durationMs: Math.round(performance.now() - startedAt),
  });
}

/** Sends what follows the text of the model. */
async function finish(
  { cite, followUps, nearestPages, leftOut, content }: CheckedAnswer & { content(): string },
  { request: { wantsCitations, wantsFollowUps } }: Turn,
  take: TakePart,
): Promise<void> {
  // what follows was not written by the model
  const citations = wantsCitations ? await cite(content()) : null;
  if (leftOut > 0)
    await take({ type: 'text', text: isSentence(content()) ? leftOutNotice(leftOut) : notFoundSentence });
  const hasAnswer = isAnswer(content());
  const nearest = hasAnswer ? '' : nearestPages();
  if (nearest !== '') await take({ type: 'text', text: nearest });
  if (citations !== null) await take({ type: 'citations', citations });
  if (wantsFollowUps) await take({ type: 'follow-ups', questions: hasAnswer ? followUps() : [] });
}

function leftOutNotice(statements: number): string {
  const subject = statements === 1 ? '1 statement was' : `${statements} statements were`;
  return `\n\n${subject} left out, because the documentation does not support ${statements === 1 ? 'it' : 'them'}.`;
}

/** Stores a new thread early, because the reader may continue it before this answer has ended. */
async function openThread(
  { threads, logger }: AssistantDeps,
  site: SiteRow,
  thread: { threadId: string; fp: string },
): Promise<void> {
  if (site.retentionDays === 0) return;
  try {
    await threads.open(site, thread);
  } catch (error) {
    logger.error({ err: error, site: site.id }, 'a conversation could not be opened');
  }
}

/** Stores the turn. A failure is only logged, because the reader already has the answer. */
async function store(
  deps: AssistantDeps,
  { site, index, request, threadId, messageId, query, hits, modelName, costMicros }: Turn,
  answered: {
    content: string;
    sources: Source[];
    ending: AnswerEnding;
    firstTokenMs: number | null;
    durationMs: number;
  },
): Promise<void> {
  if (site.retentionDays === 0) return;
  try {
    await deps.threads.recordTurn(site, {
      threadId,
      question: {
        id: newId('msg_'),
        content: request.question,
        currentPath: request.currentPath,
        searchQuery: query,
      },
      answer: {
        id: messageId,
        model: modelName(),
        answered: answered.ending === 'finished' && isAnswer(answered.content),
        costMicros: costMicros(),
        location: docsLocationOf(index, {
          viewed: request.currentPath,
          cited: answered.sources.map(({ path }) => path),
          found: hits,
        }),
        ...answered,
      },
    });
  } catch (error) {
    deps.logger.error({ err: error, site: site.id }, 'a conversation could not be stored');
  }
}
