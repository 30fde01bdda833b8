import { setImmediate as nextTurn } from 'node:timers/promises';
import { performance } from 'node:perf_hooks';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Logger } from 'pino';
import { newId } from '../../db/ids.ts';
import type { SiteRow } from '../../db/sites/sites.ts';
import { mostSources, type Source, type ThreadStore } from '../../db/sites/threads.ts';
import type { SearchHit } from '../../search/query/search-request.ts';
import type { SiteIndex } from '../../search/query/site-index.ts';
import { createAnswerTools } from './answer-tools.ts';
import { slicesOf } from './slices-of.ts';
import { createLinkChecker } from './links/check-links.ts';
import type { CheckedText } from './links/check-links.ts';
import type { SearchPassages } from './search-passages.ts';
import { generate, GenerationError } from './generate.ts';
import type { MessageRequest } from './message-request.ts';
import { isAnswer, promptOf } from './prompt.ts';
import type { Reply, ReplyUsage, TakePart } from './reply.ts';
import type { HoldAnswer } from './answer-budget.ts';
import { createLinkResolver } from './resolve-link.ts';
import { retrieve, urlOf } from './retrieve.ts';

export interface AssistantDeps {
  model: LanguageModelV4;
  /** As it was configured, `provider/model`; stored with the answers. */
  modelName: string;
  threads: ThreadStore;
  holdAnswer: HoldAnswer;
  searchPassages: SearchPassages;
  logger: Logger;
  /** Model calls an answer may take. */
  maxSteps: number;
  /** A model that sends nothing for so long has stalled. */
  modelStalledMs: number;
  /** The longest text of one model call, in characters. */
  longestText: number;
}

export interface AnswerRequest {
  site: SiteRow;
  /** The site's index; it stays open until the reply has ended. */
  index: SiteIndex;
  request: MessageRequest;
  /** Ends retrieval and model. */
  signal: AbortSignal;
}

export interface Assistant {
  /** Begins an answer: resolves the thread and retrieves. The model is asked when the reply is run. */
  reply(request: AnswerRequest): Promise<Reply>;
}

const failureSentence = 'The answer broke off because of an error in the service. Please ask again.';

/** Answers questions from a site's pages. */
export function createAssistant(deps: AssistantDeps): Assistant {
  return {
    async reply({ site, index, request, signal }) {
      const { threadId, isNew } = await deps.threads.resolve(site, request.threadId);
      const opened = isNew ? openThread(deps, site, { threadId, fp: request.fp }) : null;
      const hits = await retrieve(deps.searchPassages, { index, request, signal });
      await opened;
      const usage: ReplyUsage = { promptTokens: 0, completionTokens: 0 };
      const settle = await deps.holdAnswer({
        organizationId: site.organizationId,
        characters: JSON.stringify(promptOf({ request, hits, baseUrl: site.baseUrl })).length,
      });
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
        async run(take) {
          const turn = { site, index, request, signal, threadId, messageId, hits, usage };
          const ending = await answer(deps, turn, take);
          await settle(ending === 'finished' ? usage : null).catch((error: unknown) => {
            deps.logger.error({ err: error, site: site.id }, 'the cost of an answer could not be settled');
          });
        },
      };
    },
  };
}

type Ending = 'finished' | 'failed' | 'aborted';

interface Turn extends AnswerRequest {
  threadId: string;
  messageId: string;
  hits: SearchHit[];
  usage: ReplyUsage;
}

/** Hands on the parts of a reply; in the end, however it comes, the turn is stored. */
async function answer(deps: AssistantDeps, turn: Turn, take: TakePart): Promise<Ending> {
  const startedAt = performance.now();
  let content = '';
  let firstTokenMs: number | null = null;
  const sources: Source[] = [];
  let ending: Ending = 'aborted';
  try {
    await generateChecked(deps, { turn, sources }, (part) => {
      if (part.type === 'text') {
        firstTokenMs ??= Math.round(performance.now() - startedAt);
        content += part.text;
      }
      return take(part);
    });
    // the reason of an abort that the reader shall hear of is a GenerationError
    if (turn.signal.reason instanceof GenerationError) throw turn.signal.reason;
    if (!turn.signal.aborted) ending = 'finished';
  } catch (error) {
    ending = 'failed';
    deps.logger.error({ err: error, site: turn.site.id, model: deps.modelName }, 'an answer broke off');
    await take({ type: 'failure', message: error instanceof GenerationError ? error.message : failureSentence });
  }
  await store(deps, turn, {
    content,
    sources,
    ending,
    firstTokenMs,
    durationMs: Math.round(performance.now() - startedAt),
  });
  return ending;
}

/** What is checked without a pause; the worst of it takes 20 ms. */
const longestSlice = 250;

/** Text with its links checked, each page it cites announced before the text that cites it. */
async function generateChecked(
  deps: AssistantDeps,
  { turn, sources }: { turn: Turn; sources: Source[] },
  take: TakePart,
): Promise<void> {
  const { index, site, request, hits } = turn;
  const known = [...hits];
  const shown = hits.map(({ content }) => content);
  const { filter } = request;
  const resolve = createLinkResolver({ index, shown, filter, baseUrl: site.baseUrl });
  const checker = createLinkChecker(resolve);
  const tools = createAnswerTools({
    search: (query) => deps.searchPassages(index, query, turn.signal),
    index,
    filter,
    baseUrl: site.baseUrl,
    found(more) {
      known.push(...more);
      shown.push(...more.map(({ content }) => content));
    },
    read: (content) => void shown.push(content),
  });

  function takeSource(path: string): Promise<void> | null {
    if (sources.length >= mostSources || sources.some((source) => source.path === path)) return null;
    const source = sourceOf({ path, index, known, site, position: sources.length + 1 });
    sources.push(source);
    return take({ type: 'source', source });
  }

  /** What a model names as its sources counts; of one that names none, the pages its links lead to. */
  let namesSources = false;
  function takeText({ text, cited }: CheckedText): Promise<void> | null {
    if (!namesSources) for (const path of cited) void takeSource(path);
    return text === '' ? null : take({ type: 'text', text });
  }

  /** A model may send its whole answer at once: others have their turn between its slices. */
  async function takeSlices(text: string): Promise<void> {
    for (const slice of slicesOf(text, longestSlice)) {
      await takeText(checker.push(slice));
      await nextTurn();
    }
  }

  const options = {
    model: deps.model,
    prompt: promptOf({ request, hits, baseUrl: site.baseUrl }),
    tools,
    maxSteps: deps.maxSteps,
    stalledMs: deps.modelStalledMs,
    longestText: deps.longestText,
    signal: turn.signal,
  };
  try {
    await generate(options, turn.usage, (piece) => {
      if (piece.type === 'text' && piece.text.length > longestSlice) return takeSlices(piece.text);
      if (piece.type === 'text') return takeText(checker.push(piece.text));
      const path = resolve(piece.url)?.path ?? null;
      if (path === null) return null;
      namesSources = true;
      return takeSource(path);
    });
  } finally {
    // a model that breaks off within a link loses no word of it
    await takeText(checker.flush());
  }
}

function sourceOf({
  path,
  index,
  known,
  site,
  position,
}: {
  path: string;
  index: SiteIndex;
  known: SearchHit[];
  site: SiteRow;
  position: number;
}): Source {
  const hit = known.find((candidate) => candidate.path === path);
  return {
    id: `src_${position}`,
    path,
    url: urlOf({ path, anchor: hit?.anchor ?? null }, site.baseUrl),
    title: hit?.title ?? index.page(path)?.metadata.title ?? path,
  };
}

/** The reader learns the thread's id with the first byte and may go on with it before this answer has ended. */
async function openThread(
  { threads, logger }: AssistantDeps,
  site: SiteRow,
  thread: { threadId: string; fp: string },
): Promise<void> {
  if (site.retentionDays === 0) return;
  try {
    await threads.open(site, thread);
  } catch (error) {
    logger.error({ err: error, site: site.id }, 'a thread could not be opened');
  }
}

/** A conversation that cannot be stored is logged; the reader has the answer already. */
async function store(
  deps: AssistantDeps,
  { site, request, threadId, messageId }: Turn,
  answered: {
    content: string;
    sources: Source[];
    ending: Ending;
    firstTokenMs: number | null;
    durationMs: number;
  },
): Promise<void> {
  if (site.retentionDays === 0) return;
  try {
    await deps.threads.recordTurn(site, {
      threadId,
      question: { id: newId('msg_'), content: request.question, currentPath: request.currentPath },
      answer: {
        id: messageId,
        model: deps.modelName,
        answered: answered.ending === 'finished' && isAnswer(answered.content),
        ...answered,
      },
    });
  } catch (error) {
    deps.logger.error({ err: error, site: site.id }, 'a conversation could not be stored');
  }
}
