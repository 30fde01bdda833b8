import { unspaced } from './unspaced.ts';
import { stemmer } from 'stemmer';

/** Words too common to characterize a text. */
export const stopWords: ReadonlySet<string> = new Set(
  `a about am an and any are aren as at be because been being but by can cannot could couldn d did didn do does doesn doing don
  either else ever few for from get gets getting had has hasn have haven having he her here hers him his how however i if in into
  is isn it its itself just let ll m many may me might more most much must my neither nor of on or our ours per please re s
  shall she should shouldn since so some such t than that the their theirs them then there these they this those through to too
  upon us use used uses using ve very via want wants was wasn way ways we were weren what when where whether which while who whom
  whose why will with would wouldn yet you your yours`.split(/\s+/),
);

/** Words that are insignificant in questions but significant in texts, so the index contains them. */
export const questionWords: ReadonlySet<string> = new Set(
  `able again also anyone anything best exactly example explain find give happen happens help know like mean means need possible
  same show something sort supposed tell thing things think try trying understand work working works correct proper properly good
  instead only actually one go make`.split(/\s+/),
);

const word = /[\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*/gu;
const unspacedRun = new RegExp(`(?:${unspaced.source}\\p{M}*)+|[^\\s]`, 'gu');
const nonAscii = /[^\p{ASCII}]/u;
// `_`, and characters in the compatibility forms of numbers: ⑴ is (1), ½ is 1⁄2.
const notOfTerm = /[^\p{L}\p{M}\p{N}]/gu;
const maxTermLength = 48;

/** Returns a text in lower case, with compatibility forms folded and accents removed. */
export function fold(text: string): string {
  if (!nonAscii.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .replace(/(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+/gu, '')
    .toLowerCase()
    .normalize('NFC');
}

/** Returns one term for a word or an identifier: `create_organization` and `createOrganization` are equal. */
export function termOf(text: string): string {
  return stem(fold(text).replaceAll(notOfTerm, '').slice(0, maxTermLength));
}

/** Calls back for every term of a prose text, in order; with stop words only on request. */
export function eachTerm(
  text: string,
  visit: (term: string, raw: string) => void,
  options: { stopWords: boolean },
): void {
  for (const match of text.matchAll(word)) {
    const raw = match[0];
    if (nonAscii.test(raw) && unspaced.test(raw)) {
      for (const term of bigramsOf(raw)) visit(term, raw);
      continue;
    }
    if (!options.stopWords && raw.length < 12 && stopWords.has(raw.toLowerCase())) continue;
    const term = termOf(raw);
    if (term !== '') visit(term, raw);
  }
}

/** Returns the terms of a prose text. */
export function termsOf(text: string, options: { stopWords: boolean } = { stopWords: false }): string[] {
  const terms: string[] = [];
  eachTerm(text, (term) => terms.push(term), options);
  return terms;
}

function bigramsOf(raw: string): string[] {
  const terms: string[] = [];
  for (const run of splitScripts(fold(raw).slice(0, 4096))) {
    if (!unspaced.test(run)) {
      terms.push(termOf(run));
      continue;
    }
    const letters = Array.from(run);
    if (letters.length === 1) terms.push(run);
    for (let at = 0; at + 1 < letters.length; at++) terms.push(`${letters[at]}${letters[at + 1]}`);
  }
  return terms.filter((term) => term !== '');
}

function splitScripts(text: string): string[] {
  const runs: string[] = [];
  let other = '';
  for (const match of text.matchAll(unspacedRun)) {
    if (!unspaced.test(match[0])) {
      other += match[0];
      continue;
    }
    if (other !== '') runs.push(other);
    other = '';
    runs.push(match[0]);
  }
  if (other !== '') runs.push(other);
  return runs;
}

const cache = new Map<string, string>();
const cacheSize = 50_000;

/** Returns the stem of a lower-case word (Porter's algorithm); words with other letters than a-z stay as they are. */
export function stem(word: string): string {
  if (word.length < 3 || word.length > 40) return word;
  const known = cache.get(word);
  if (known !== undefined) return known;
  const result = /^[a-z]+$/.test(word) ? stemmer(word) : word;
  if (cache.size >= cacheSize) cache.clear();
  cache.set(word, result);
  return result;
}
