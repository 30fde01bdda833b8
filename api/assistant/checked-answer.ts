import { setImmediate as nextTurn } from 'node:timers/promises';
import { maxSources, type Source } from '../../db/sites/threads.ts';
import { textChunks } from '../../lib/text-chunks.ts';
import { extractName } from '../../models/offline-extract/offline-extract.ts';
import { chunkPage } from '../../search/build/chunk-page.ts';
import type { SearchHit } from '../../search/query/search-request.ts';
import type { PageMetadata } from '../../search/read/source-page.ts';
import { createAnswerTools } from './answer-tools.ts';
import type { AssistantDeps, Turn } from './assistant.ts';
import { citationsOf, pathsIn, type Citation } from './citations/citations.ts';
import { createCitedPassages, type QuotablePassage } from './citations/cited-passages.ts';
import { createSupportFilter } from './citations/cut-unsupported.ts';
import { followUpsOf } from './follow-ups.ts';
import { generate } from './generate.ts';
import { createLinkChecker, type CheckedText } from './links/check-links.ts';
import { nearestPagesOf } from './nearest-pages.ts';
import type { TakePart } from './reply.ts';
import { createLinkResolver } from './resolve-link.ts';
import { urlOf } from './retrieve.ts';
import type { SiteRow } from '../../db/sites/sites.ts';
import type { LeasedIndex } from './site-indexes.ts';

/** Longest text checked without yielding, in characters. The worst case takes 20 ms. */
const maxChunkLength = 250;
const maxKnownLength = 50_000;
/** Sentences cited without yielding. */
const sentencesPerTurn = 5;

/** Results of the checks of an answer whose text is complete. */
export type CheckedAnswer = Awaited<ReturnType<typeof generateChecked>>;

/**
 * Generates the answer and checks its links and, if the site wants it, its statements. Each cited page is announced
 * before the text that cites it.
 */
export async function generateChecked(
  deps: AssistantDeps,
  { turn, sources }: { turn: Turn; sources: Source[] },
  take: TakePart,
) {
  const { index, site, request, hits } = turn;
  const known: SearchHit[] = [];
  const shown: string[] = [];
  const passages: QuotablePassage[] = [];
  const ownUrls = new Map<string, string>();
  const noteUrl = ({ path, metadata }: { path: string; metadata: PageMetadata }) =>
    metadata.url !== undefined && ownUrls.set(metadata.url, path);
  function show(more: SearchHit[]): void {
    known.push(...more);
    more.forEach(noteUrl);
    shown.push(...more.map(({ content }) => content));
    passages.push(...more.map((hit) => passageOf(hit, site.baseUrl)));
  }
  show(hits);
  const { filter } = request;
  const resolve = createLinkResolver({ index, shown, filter, baseUrl: site.baseUrl, ownUrls });
  const pages = { shown: passages, known: () => knownOf(turn), pathOf: (url: string) => resolve(url)?.path ?? null };
  const checker = createLinkChecker(resolve);
  const support = createSupportFilter(pages);
  const tools = createAnswerTools({
    search: (query) => deps.searchPassages(index, query, turn.signal),
    index,
    filter,
    baseUrl: site.baseUrl,
    found: show,
    read(page, content) {
      noteUrl(page);
      shown.push(content);
      const { path, metadata } = page;
      passages.push(
        ...chunkPage(content, metadata.title).chunks.map(({ start, end, anchor, headings }) =>
          passageOf(
            { path, metadata, title: metadata.title, anchor, headings, content: content.slice(start, end) },
            site.baseUrl,
          ),
        ),
      );
    },
  });

  function takeSource(path: string): Promise<void> | null {
    if (sources.length >= maxSources || sources.some((source) => source.path === path)) return null;
    const source = sourceOf({ path, index, known, site, position: sources.length + 1 });
    sources.push(source);
    return take({ type: 'source', source });
  }

  /** Whether the model has named its sources. Until it has, the pages it links to count as its sources. */
  let namesSources = false;
  function send({ text, cited }: CheckedText): Promise<void> | null {
    if (!namesSources) for (const path of cited) void takeSource(path);
    return text === '' ? null : take({ type: 'text', text });
  }

  /** The extractive model quotes the documentation, and needs no check. */
  const isCutting = () => site.unsupported === 'cut' && turn.modelName() !== extractName;
  const supported = (text: string) => ({ text, cited: pathsIn(text, pages.pathOf) });
  const takeText = (checked: CheckedText) => send(isCutting() ? supported(support.push(checked.text)) : checked);

  /** Yields between chunks, because a model may send its whole answer at once and would block the event loop. */
  async function takeInChunks(text: string): Promise<void> {
    for (const chunk of textChunks(text, maxChunkLength)) {
      await takeText(checker.push(chunk.text));
      await nextTurn();
    }
  }

  const options = {
    prompt: turn.prompt,
    promptCharacters: turn.promptCharacters,
    tools,
    maxSteps: deps.maxSteps,
    stalledMs: deps.modelStalledMs,
    startMs: deps.modelStartMs,
    maxTextLength: deps.maxTextLength,
    reserveCall: turn.reserveCall,
    signal: turn.signal,
  };
  try {
    await generate(options, turn.usage, (chunk) => {
      if (chunk.type === 'text' && chunk.text.length > maxChunkLength) return takeInChunks(chunk.text);
      if (chunk.type === 'text') return takeText(checker.push(chunk.text));
      const path = resolve(chunk.url)?.path ?? null;
      if (path === null) return null;
      namesSources = true;
      return takeSource(path);
    });
  } finally {
    // when the model fails inside a link, the words held back so far are still sent
    await takeText(checker.flush());
    await send(supported(support.flush()));
  }
  const { weakScore } = index;
  const cited = () => sources.map(({ path }) => path);
  return {
    /** Number of statements that were left out because the cited pages do not contain them. */
    leftOut: support.leftOut(),
    /** Attributes the sentences of the answer to what the model was shown. */
    async cite(answer: string): Promise<Citation[]> {
      const citations: Citation[] = [];
      const findPassages = await createCitedPassages(passages);
      for (const citation of citationsOf(answer, { ...pages, sources, findPassages })) {
        citations.push(citation);
        if (citations.length % sentencesPerTurn === 0) await nextTurn();
      }
      return citations;
    },
    /** Returns topics to ask about next. */
    followUps: (): string[] => followUpsOf({ hits, weakScore, question: request.question, cited: cited() }),
    /** Returns the pages that come closest to the question and the site's contact, as Markdown. */
    nearestPages: (): string => nearestPagesOf({ hits, weakScore, cited: cited(), resolve, site }),
  };
}

function passageOf(
  { path, anchor, metadata, title, headings, content }: Omit<SearchHit, 'score'>,
  baseUrl: string | null,
): QuotablePassage {
  return {
    path,
    url: urlOf({ path, anchor, metadata }, baseUrl),
    title: headings.at(-1) ?? title,
    content,
    text: [title, ...headings, content].join('\n'),
  };
}

/** Returns what the site is called and what the reader said: an answer may repeat their names. */
function knownOf({ site, index, request: { question, history, context } }: Turn): string {
  return [
    site.domain,
    site.baseUrl,
    index.page('index')?.metadata.title,
    site.instructions,
    question,
    ...context.map(({ value }) => value),
    ...history.filter(({ role }) => role === 'user').map(({ text }) => text),
  ]
    .join('\n')
    .slice(0, maxKnownLength);
}

/** Returns a cited page as a source, at the best of its passages that are known. */
function sourceOf({
  path,
  index,
  known,
  site,
  position,
}: {
  path: string;
  index: LeasedIndex;
  known: SearchHit[];
  site: SiteRow;
  position: number;
}): Source {
  const hit = known.find((candidate) => candidate.path === path);
  const metadata = hit?.metadata ?? index.page(path)?.metadata;
  return {
    id: `src_${position}`,
    path,
    url: urlOf({ path, anchor: hit?.anchor ?? null, metadata }, site.baseUrl),
    title: hit?.title ?? metadata?.title ?? path,
  };
}
