import { isIdentifier } from '../../search/build/identifiers.ts';
import type { Source } from '../../db/sites/threads.ts';

/** A sentence of an answer, the sources it cites, and what it states that they do not contain. */
export interface Citation {
  text: string;
  /** Ids of the answer's sources. */
  sources: string[];
  /** Numbers, code, options and identifiers of the sentence that occur in none of the passages of its sources. */
  unsupported: string[];
}

/** A passage that the model was shown. */
export interface ShownPassage {
  path: string;
  text: string;
}

export const mostCitations = 200;
export const mostFacts = 20;
const longestSentence = 1_000;
/** Facts checked per answer; each takes one pass over what the model was shown. */
const mostFactsChecked = 300;
const links = /\]\(<?([^()\s<>]{1,2000})>?\)/g;
const codeSpans = /(`{1,3})([^`\n]{1,200})\1/g;
const words = /(?<![\p{L}\p{N}_-])(?:-{1,2}[A-Za-z][\w-]*|[\p{L}\p{N}_$][\p{L}\p{N}_$.,:-]*)/gu;

/**
 * Attributes each sentence of an answer to the pages it links to: those of the sentence, else of its paragraph, else the
 * latest before it. What a sentence quotes is compared with what the model was shown of these pages.
 */
export function citationsOf(
  answer: string,
  {
    sources,
    shown,
    pathOf,
  }: { sources: readonly Source[]; shown: readonly ShownPassage[]; pathOf: (url: string) => string | null },
): Citation[] {
  const pathsIn = (text: string) => [
    ...new Set([...text.matchAll(links)].flatMap(([, url = '']) => pathOf(url) ?? [])),
  ];
  const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
  const texts = shown.map(({ path, text }) => ({ path, text: normalized(text) }));
  const citations: Citation[] = [];
  let factsLeft = mostFactsChecked;
  let latest: string[] = [];
  for (const block of answer.split(/\n{2,}/)) {
    const ofBlock = pathsIn(block);
    for (const { segment } of segmenter.segment(block)) {
      const text = segment.trim();
      if (citations.length >= mostCitations) return citations;
      if (!/\p{L}/u.test(text)) continue;
      const own = pathsIn(text);
      const paths = own.length > 0 ? own : ofBlock.length > 0 ? ofBlock : latest;
      const facts = factsOf(text.slice(0, longestSentence)).slice(0, factsLeft);
      factsLeft -= facts.length;
      const evidence = evidenceOf(texts, paths);
      citations.push({
        text: text.slice(0, longestSentence),
        sources: sources.filter(({ path }) => paths.includes(path)).map(({ id }) => id),
        unsupported: facts.filter((fact) => {
          const pattern = patternOf(fact);
          return !evidence.some((passage) => pattern.test(passage.text));
        }),
      });
    }
    if (ofBlock.length > 0) latest = ofBlock.slice(-1);
  }
  return citations;
}

/** Reports whether a text contains a fact, other than as a part of a longer word or number. */
export function statesFact(text: string, fact: string): boolean {
  return patternOf(fact).test(normalized(text));
}

/** Returns what was shown of the cited pages; of all pages if the sentence cites none. */
function evidenceOf(shown: readonly ShownPassage[], paths: readonly string[]): readonly ShownPassage[] {
  const ofPaths = shown.filter(({ path }) => paths.includes(path));
  return ofPaths.length > 0 ? ofPaths : shown;
}

/** Returns what a sentence can only have from a source: code, options, identifiers and numbers. */
function factsOf(sentence: string): string[] {
  // numbers of a list's items are not facts
  const prose = sentence.replace(/\]\([^()]*\)/g, ']').replace(/^\s*\d{1,3}[.)]\s/gm, '');
  const codes = [...prose.matchAll(codeSpans)].map(([, , code = '']) => code.trim());
  const others = [...prose.replaceAll(codeSpans, ' ').matchAll(words)]
    .map(([word]) => word.replace(/[.,:-]+$/, ''))
    .filter(
      (word) =>
        /\p{N}/u.test(word) || word.startsWith('-') || (isIdentifier(word) && !/^\p{Lu}?[\p{Ll}-]+$/u.test(word)),
    );
  return [...new Set([...codes, ...others])].filter((fact) => fact !== '').slice(0, mostFacts);
}

/** Spaces, escapes and thousands separators differ between a page and what is said about it. */
function normalized(text: string): string {
  return text
    .toLowerCase()
    .replace(/(?<=\d)[,\u00a0\u202f](?=\d{3})/g, '')
    .replace(/[\\`]+/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Returns a pattern that finds a fact other than as a part of a longer word or number. */
function patternOf(fact: string): RegExp {
  const escaped = normalized(fact).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, 'u');
}
