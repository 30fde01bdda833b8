import { citationsOf } from '../../../api/assistant/citations/citations.ts';
import {
  createCitedPassages,
  type CitedPassage,
  type FindCitedPassages,
} from '../../../api/assistant/citations/cited-passages.ts';
import type { ShownPassage } from '../../../api/assistant/citations/passage-facts.ts';
import type { SiteIndex } from '../../../search/query/site-index.ts';
import { sentencesIn } from './statements.ts';

/** How often the cited passage and quotation are the ones that a sentence was taken from, as `[right, total]`. */
export type PassageFigures = Record<string, { passage: [number, number]; quote: [number, number] }>;

const maxSentences = 1_000;
const passages = 10;

/** Cites sentences of pages that a model would be shown several passages of, as they are and with half of their words. */
export async function checkCitedPassages(index: SiteIndex): Promise<PassageFigures> {
  const figures: PassageFigures = {};
  const all = sentencesIn(index);
  const step = Math.max(1, all.length / maxSentences);
  for (const { path, sentence } of all.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step))) {
    const shown = index.search({ query: sentence.slice(0, 300), limit: passages }).map((hit, at) => ({
      path: hit.path,
      url: String(at),
      title: hit.title,
      content: hit.content,
      text: `${hit.title}\n${hit.content}`,
    }));
    const holds = (content: string | undefined) => plain(content ?? '').includes(plain(sentence));
    if (shown.filter((passage) => passage.path === path).length < 2 || !shown.some(({ content }) => holds(content)))
      continue;
    const find = await createCitedPassages(shown);
    for (const [name, said, paths] of [
      ['as it is', sentence, [path]],
      ['every second word', thinned(sentence), [path]],
      ['no page cited', sentence, []],
    ] as const) {
      const cited = passageOf(said, { paths, shown, find });
      const { passage, quote } = (figures[name] ??= { passage: [0, 0], quote: [0, 0] });
      passage[1] += 1;
      quote[1] += 1;
      if (cited !== null && holds(shown[Number(cited.url)]?.content)) passage[0] += 1;
      if (cited !== null && holds(cited.quote ?? '')) quote[0] += 1;
    }
  }
  return figures;
}

/** Returns the passage that the citation of a sentence names, which an answer says of a page or of none. */
function passageOf(
  said: string,
  {
    paths: [path],
    shown,
    find,
  }: {
    paths: readonly string[];
    shown: readonly ShownPassage[];
    find: FindCitedPassages;
  },
): CitedPassage | null {
  const answer = path === undefined ? said : `${said.replace(/[.!?]*$/, '')} ([Page](/page)).`;
  const options = { sources: [], shown, known: () => '', pathOf: () => path ?? null };
  // the words of the link are none of the sentence
  const [citation] = citationsOf(answer, { ...options, findPassages: (_, cited) => find(said, cited) });
  return citation?.passages[0] ?? null;
}

function thinned(sentence: string): string {
  return sentence
    .split(' ')
    .filter((_, at) => at % 2 === 0)
    .join(' ');
}

/** Sentences of pages have no links. */
function plain(text: string): string {
  return text.replace(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1').replace(/\s+/g, ' ');
}
