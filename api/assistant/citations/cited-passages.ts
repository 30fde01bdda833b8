import { setImmediate as nextTurn } from 'node:timers/promises';
import { termsOf } from '../../../search/build/words.ts';
import { createBlockReader, linesOf, markerOf, sentencesOf } from './blocks.ts';
import { hasFact, type Fact, type ShownPassage } from './passage-facts.ts';

/** A passage that the model was shown, and where readers find it. */
export interface QuotablePassage extends ShownPassage {
  /** URL of its section. */
  url: string;
  /** The heading above it, else the title of its page. */
  title: string;
  /** Markdown. */
  content: string;
}

/** A passage that supports a sentence of an answer. */
export interface CitedPassage extends Pick<QuotablePassage, 'path' | 'url' | 'title'> {
  /** The sentence of the passage that comes nearest, as Markdown; null when none shares enough with the answer. */
  quote: string | null;
}

/**
 * Returns the passages of the given pages that support a sentence, of all pages if none is given: the one that does so
 * best, then others until each fact is in one of them. Empty if none does.
 */
export type FindCitedPassages = (
  sentence: string,
  options: {
    paths: readonly string[];
    /** Facts of the sentence that these pages contain. */
    facts: readonly Fact[];
  },
) => CitedPassage[];

export const maxQuoteLength = 500;
const targets = /\]\(<?([^()\s<>]{1,2000})>?\)/g;
/** How much a link to its section counts, compared with all words of a sentence. */
const linkedShare = 0.25;
/** How much the facts of a sentence count, compared with all of its words. */
const factsShare = 0.1;
/** Share of a sentence's words that a passage must have if the answer cites no page for it. */
const minShareWithoutLink = 0.5;
/** Share of the words of both that a quotation must have in common. */
const minQuotedShare = 0.15;
const minWords = 3;
/** Lines that no reader of the page sees as a sentence. */
const unquotable = /^\s*(?:#|<|!\[|\[[^\]]*\]:)/;

interface ReadPassage {
  passage: QuotablePassage;
  terms: ReadonlySet<string>;
}

/**
 * Creates a function that finds the passages behind a sentence by the facts and words that they share; rare words count
 * more. A sentence in another language than the page it cites shares few, so that the page's first passage is taken.
 */
export async function createCitedPassages(passages: readonly QuotablePassage[]): Promise<FindCitedPassages> {
  const read: ReadPassage[] = [];
  for (const passage of passages) {
    read.push({ passage, terms: new Set(termsOf(passage.content)) });
    await nextTurn();
  }
  const occurrences = new Map<string, number>();
  for (const { terms } of read) for (const term of terms) occurrences.set(term, (occurrences.get(term) ?? 0) + 1);
  const weightOf = (term: string) => Math.log(1 + (1 + read.length) / (1 + (occurrences.get(term) ?? 0)));
  const weightOfAll = (terms: Iterable<string>) => [...terms].reduce((sum, term) => sum + weightOf(term), 0);
  const shared = (some: ReadonlySet<string>, others: ReadonlySet<string>) => weightOfAll(some.intersection(others));
  const sentencesRead = new Map<QuotablePassage, { text: string; terms: ReadonlySet<string> }[]>();

  function quoteOf(passage: QuotablePassage, terms: ReadonlySet<string>): string | null {
    const sentences = sentencesRead.get(passage) ?? quotableIn(passage.content);
    sentencesRead.set(passage, sentences);
    const weight = weightOfAll(terms);
    let best: { text: string; share: number } | null = null;
    for (const { text, terms: own } of sentences) {
      const common = shared(own, terms);
      const share = common / (weight + weightOfAll(own) - common || 1);
      if (share >= minQuotedShare && share > (best?.share ?? 0)) best = { text, share };
    }
    return best?.text ?? null;
  }

  return (sentence, { paths, facts }) => {
    const terms = new Set(termsOf(sentence.replaceAll(targets, ']')));
    const weight = weightOfAll(terms) || 1;
    const linked = new Set([...sentence.matchAll(targets)].map(([, url = '']) => url));
    const own = paths.length === 0 ? read : read.filter(({ passage }) => paths.includes(passage.path));
    const ranked = own
      .map(({ passage, terms: inPassage }) => {
        const share = shared(terms, inPassage) / weight + (linked.has(passage.url) ? linkedShare : 0);
        const stated = facts.filter((fact) => hasFact(passage, fact));
        return { passage, share, stated, rank: share + (factsShare * stated.length) / (facts.length || 1) };
      })
      .sort((a, b) => b.rank - a.rank);
    const [best] = ranked;
    if (best === undefined || (paths.length === 0 && best.share < minShareWithoutLink)) return [];
    const missing = new Set(facts);
    const cited = ranked.filter((candidate) => {
      const adds = candidate.stated.some((fact) => missing.has(fact));
      for (const fact of candidate.stated) missing.delete(fact);
      return candidate === best || adds;
    });
    return cited.map(({ passage }) => {
      const { path, url, title } = passage;
      return { path, url, title, quote: quoteOf(passage, terms) };
    });
  };
}

/** Returns the sentences of a passage that a browser finds on its page: prose, without code and tables. */
function quotableIn(content: string): { text: string; terms: ReadonlySet<string> }[] {
  const reader = createBlockReader();
  return [...reader.push(content), reader.flush()]
    .flatMap(linesOf)
    .filter(({ kind, text }) => kind === 'sentences' && !unquotable.test(text))
    .flatMap(({ kind, text }) => sentencesOf({ kind, text: text.slice(markerOf(text).length) }))
    .map((text) => text.trim())
    .filter((text) => text.length <= maxQuoteLength && text.split(/\s+/).length >= minWords)
    .map((text) => ({ text, terms: new Set(termsOf(text)) }));
}
