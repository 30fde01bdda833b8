import { questionWords, stopWords } from '../../../search/build/words.ts';
import { unspaced } from '../../../search/build/unspaced.ts';
import { containsPattern } from '../../../search/query/facts.ts';

/** A name as it is written, and the words of it that must occur in a source. */
export interface Name {
  text: string;
  words: string[];
}

/** A word, with its possessive ending. */
const words = /([\p{L}\p{N}][\p{L}\p{M}\p{N}]*)(?:['’]\p{Ll}{1,3}(?!\p{L}))?/gu;
/** After these, a capital begins a sentence, a label or a cell. */
const beginning = /[.:!?…([|#]/;
const innerCapital = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}{2}/u;
const acronym = /^\p{Lu}{2,}s?$/u;
const capitalized = /^\p{Lu}\p{M}*\p{Ll}[\p{Ll}\p{M}]*$/u;
const hump = /(\p{Ll})(?=\p{Lu})/gu;
const plural = /(?:ies|y|e?s)$/;
/** Acronyms that any documentation may use for what its pages call otherwise. */
const general: ReadonlySet<string> = new Set(
  'API CLI CPU CSS FAQ GUI HTML HTTP HTTPS JSON LLM REST SDK SQL URI URL XML'.split(' '),
);
const maxWords = 4;
/** Share of stop words among the words in lower case; texts with fewer are not English. */
const minStopWordShare = 0.25;

/**
 * Returns the names in the prose of a text: words with an inner capital and, if it is English, acronyms and capitalized
 * words at which nothing begins. Neighbors are one name. Other languages capitalize nouns, inflect names or translate
 * acronyms.
 */
export function namesIn(text: string, { isHeading, isEnglish }: { isHeading: boolean; isEnglish: boolean }): Name[] {
  const names: Name[] = [];
  /** The name that the next word may continue, which may be only a beginning. */
  let open: Name | null = null;
  let end = 0;
  for (const { 0: whole, 1: word = '', index } of text.matchAll(words)) {
    const gap = text.slice(end, index);
    const isCapitalized = isEnglish && !isHeading && capitalized.test(word) && !isCommon(word);
    const begins = end === 0 || beginning.test(gap);
    end = index + whole.length;
    const isName = hasInnerCapital(word) || (isEnglish && isRareAcronym(word)) || (isCapitalized && !begins);
    if (!isName && !isCapitalized) {
      open = null;
      continue;
    }
    if (open === null || begins || !/^[\s-]$/.test(gap) || open.words.length === maxWords)
      open = { text: '', words: [] };
    open.text = open.text === '' ? word : `${open.text} ${word}`;
    if (!isName) continue;
    if (open.words.length === 0) names.push(open);
    open.words.push(word);
  }
  return names;
}

function isCommon(word: string): boolean {
  const lower = word.toLowerCase();
  return stopWords.has(lower) || questionWords.has(lower);
}

function isRareAcronym(word: string): boolean {
  return acronym.test(word) && word.length > 2 && !/^\p{Lu}{2}s$/u.test(word) && !general.has(word.replace(/s$/, ''));
}

function hasInnerCapital(word: string): boolean {
  return /^\p{Lu}[\p{L}\p{M}]*$/u.test(word) && innerCapital.test(word);
}

/** Reports whether a word, which hyphens may join, is a name or prose, and not an identifier. */
export function isOfNames(word: string): boolean {
  return word.split('-').every((part) => /^\p{Lu}?\p{Ll}+$/u.test(part) || acronym.test(part) || hasInnerCapital(part));
}

/** Reports whether a text is English, by the share of its most common words. */
export function isEnglish(text: string): boolean {
  const lower = text.match(/(?<![\p{L}\p{M}\p{N}_])\p{Ll}+(?![\p{L}\p{M}\p{N}_])/gu) ?? [];
  const common = lower.filter((word) => word.length > 1 && stopWords.has(word));
  return new Set(common).size > 1 && common.length / lower.length >= minStopWordShare && !unspaced.test(text);
}

/** Returns a text in the form in which names are looked for in it: hyphens, and capitals in a word, are spaces. */
export function foldNames(text: string): string {
  return text
    .replace(/[\\`*]+/g, '')
    .replace(hump, '$1 ')
    .toLowerCase()
    .replace(/[\s_-]+/g, ' ');
}

/** Reports whether folded texts have a name, or each of its words, in the singular or plural. */
export function haveName(texts: readonly string[], { text, words }: Name): boolean {
  return isIn(texts, text) || words.every((word) => isIn(texts, word));
}

function isIn(texts: readonly string[], name: string): boolean {
  const words = foldNames(name).split(' ');
  const [first = ''] = words;
  const joined = words.join(' ?');
  const pattern = joined.length > 3 ? `${joined.replace(plural, '')}(?:ies|y|e?s)?` : joined;
  // most texts do not have most names, which is quicker to see without a pattern
  const start = first.slice(0, Math.max(1, first.length - 3));
  return texts.some((text) => text.includes(start) && containsPattern(text, pattern));
}
