import type { DatabaseSync } from 'node:sqlite';
import { findIdentifiers, isIdentifier } from '../build/identifiers.ts';
import { sameMeaning } from '../build/synonyms.ts';
import { createSharedCache } from './shared-cache.ts';
import { hashTerm } from './term-vector.ts';
import { eachTerm, questionWords, stopWords, termOf } from '../build/words.ts';

/** A concept of a query, and the terms that express it. */
export interface QueryTerm {
  /** The strongest first. */
  alternatives: Alternative[];
  /** Parts of an identifier; all of them together represent the whole. */
  parts: { term: string; hash: number }[];
  isIdentifier: boolean;
  /** Written as a name: capitalized where the sentence does not require it. */
  isName: boolean;
  kind: 'word' | 'question' | 'stop';
  /** Approximate number of passages with it. */
  count: number;
  /** Inverse document frequency. */
  weight: number;
}

export interface Alternative {
  /** A term, or two that follow each other, separated by a space. */
  term: string;
  /** Hash of its last term, and of the one before it if there are two. */
  hash: number;
  after?: number;
  /** Share of the concept that a passage with only this term has. */
  strength: number;
}

/** An alternative term, and an upper bound for its number of passages. */
interface Counted extends Alternative {
  count: number;
}

/** Cached numbers of passages by term, of the open indexes. */
const counts = createSharedCache<string, number>(50_000);
const maxQueryLength = 4000;
const maxTerms = 24;
export const partsStrength = 0.85;
const synonymStrength = 0.5;
const correctedStrength = 0.5;
/** Words that are corrected, because each costs hundreds of lookups. */
const maxCorrected = 3;
/** A word counts as two words if both halves are this many times as frequent as the word itself. */
const apartFactor = 10;
const minSplitLength = 5;
const maxSplitLength = 30;
const shareOfReferred = 0.5;
const questionShare = 0.3;
const plain = { parts: [], member: null, isIdentifier: false };

/** Properties of an index that queries need. */
export interface IndexTerms {
  /** Returns the number of passages with a term. */
  count(term: string): number;
  /** Returns terms of the index for which a word without passages may be a misspelling. */
  correct(word: string): string[];
  passages: number;
}

/** Returns a function that returns the number of passages with a term, and caches the results. */
export function createTermCounts(database: DatabaseSync): IndexTerms['count'] {
  const common = database.prepare('select count from common_terms where term = ?');
  const count = database.prepare('select doc from temp.vocabulary where term = ?');
  return (term) => {
    const cached = counts.get(database, term);
    if (cached !== undefined) return cached;
    const found = Number(common.get(term)?.count ?? count.get(term)?.doc ?? 0);
    counts.set(database, term, found);
    return found;
  };
}

interface Draft {
  term: string;
  /** The word as written, without the separators of an identifier. */
  word: string;
  extra: string[];
  parts: string[];
  /** The last segment of a dotted name if it is written like an identifier itself, so that it says enough. */
  member: string | null;
  isIdentifier: boolean;
  isName: boolean;
  kind: QueryTerm['kind'];
}

/**
 * Splits a query into terms; of a very long one, the rarest are kept. Without a significant word, its stop words count.
 */
export function readQuery(query: string, index: IndexTerms): QueryTerm[] {
  const drafts = joinNeighbours(draftsOf(query.slice(0, maxQueryLength)));
  // a longer query quotes text or code and has enough terms as written
  const isShort = drafts.length <= maxTerms;
  let corrections = 0;
  const correct = (word: string) => (corrections++ < maxCorrected ? index.correct(word) : []);
  const terms = drafts.map((draft) => weighed(draft, { ...index, correct }, isShort));
  const distinct = [...new Map(terms.map((term) => [term.alternatives[0]?.term ?? '', term])).values()];
  if (distinct.length <= maxTerms) return distinct;
  const kept = new Set(distinct.toSorted((a, b) => b.weight - a.weight).slice(0, maxTerms));
  return distinct.filter((term) => kept.has(term));
}

/**
 * Reads a query with the words of the texts that it refers to, which count half and are not expected as names. The word
 * for a version chooses pages, which seldom contain it.
 */
export function readReferring(
  { query, referred = [], version = '' }: { query: string; referred?: readonly string[]; version?: string },
  index: IndexTerms,
): QueryTerm[] {
  const terms = new Map(readQuery(query, index).map((term) => [term.alternatives[0]?.term, term]));
  for (const { term } of draftsOf(version)) {
    const named = terms.get(term);
    if (named !== undefined && terms.size > 1)
      terms.set(term, { ...named, kind: 'question', isIdentifier: false, weight: named.weight * questionShare });
  }
  for (const text of referred.toReversed()) {
    for (const term of readQuery(text, index)) {
      const name = term.alternatives[0]?.term;
      if (term.kind !== 'word' || terms.has(name) || terms.size >= maxTerms) continue;
      terms.set(name, { ...term, isName: false, weight: term.weight * shareOfReferred });
    }
  }
  return [...terms.values()];
}

function draftsOf(query: string): Draft[] {
  const drafts: Draft[] = [];
  const isNamed = nameTestOf(query);
  for (const match of query.matchAll(/[^\s,;:!?()[\]{}"“”`'<>|=/]+/g)) {
    const raw = match[0].replace(/(?<![.…])[.…]+$/u, '');
    const identifier = isIdentifier(raw) ? findIdentifiers(raw, { inCode: true })[0] : undefined;
    if (
      identifier !== undefined &&
      (identifier.parts.length > 0 || identifier.flag !== null || /^[\d.]+$/.test(identifier.whole))
    ) {
      const { text, whole, flag } = identifier;
      const segments = text.split('.').filter((segment) => segment !== '');
      const isDotted = segments.length > 1 && identifier.parts.length > 0;
      const parts = isDotted ? segments.map((segment) => termOf(segment)) : identifier.parts;
      const last = segments.at(-1) ?? '';
      drafts.push({
        term: flag ?? whole,
        word: text.replaceAll(/[._$-]/g, ''),
        extra: flag === null ? otherVersionNames(text) : [whole],
        parts: parts.filter((part) => !stopWords.has(part)),
        member: isDotted && isIdentifier(last) ? termOf(last) : null,
        isIdentifier: true,
        isName: false,
        kind: 'word',
      });
      continue;
    }
    eachTerm(
      raw,
      (term, word) =>
        drafts.push({
          ...plain,
          term,
          word,
          extra: [],
          isName: isNamed(word, match.index),
          kind: kindOf(word.toLowerCase()),
        }),
      { stopWords: true },
    );
  }
  return drafts;
}

/** `v1.2` is also written as `1.2`, and the other way around. */
function otherVersionNames(text: string): string[] {
  if (!/^v?\d+(?:\.\d+)+$/i.test(text)) return [];
  return [/^v/i.test(text) ? text.slice(1) : termOf(`v${text.replaceAll('.', '')}`)];
}

/** Reports whether a word is a name; in a query that capitalizes most words, none is. */
function nameTestOf(query: string): (word: string, at: number) => boolean {
  const start = query.search(/\p{L}/u);
  const words = (query.match(/(?<![\p{L}\p{N}_])\p{L}{2,}/gu) ?? []).slice(1);
  const capitals = words.filter((word) => /^\p{Lu}/u.test(word)).length;
  if (capitals > 3 && capitals * 2 > words.length) return () => false;
  return (word, at) => word.length > 1 && (at > start ? /^\p{Lu}/u : /^\p{Lu}.*\p{Lu}/u).test(word);
}

function kindOf(word: string): QueryTerm['kind'] {
  if (stopWords.has(word)) return 'stop';
  return questionWords.has(word) ? 'question' : 'word';
}

/** Adjacent words also match when written together: `use chat` matches `useChat`, `web hook` matches `webhook`. */
function joinNeighbours(drafts: Draft[]): Draft[] {
  for (const [at, draft] of drafts.entries()) {
    const next = drafts[at + 1];
    if (
      next === undefined ||
      draft.isIdentifier ||
      next.isIdentifier ||
      (draft.kind === 'stop' && next.kind === 'stop')
    )
      continue;
    const joined = termOf(draft.word + next.word);
    if (draft.kind !== 'stop') draft.extra.push(joined);
    if (next.kind !== 'stop') next.extra.push(joined);
  }
  return drafts;
}

function weighed(draft: Draft, index: IndexTerms, isShort: boolean): QueryTerm {
  const { term, parts, isIdentifier, isName, kind } = draft;
  const { count, passages } = index;
  const own = count(term);
  const fromParts = parts.length === 0 ? 0 : Math.min(...parts.map((part) => count(part)));
  const others = othersOf(draft, index, { isShort, isUnknown: own + fromParts === 0 });
  const apart = isShort && kind === 'word' && !isIdentifier ? halvesOf(draft, index) : [];
  const found = own > 0 ? own : Math.max(fromParts, ...others.map((other) => other.count));
  const information = Math.log(1 + (passages - Math.min(found, passages) + 0.5) / (found + 0.5));
  const factor = kind === 'word' ? 1 : kind === 'question' ? questionShare : 0.1;
  return {
    alternatives: [{ term, hash: hashTerm(term), strength: 1 }, ...apart, ...others],
    parts: parts.map((part) => ({ term: part, hash: hashTerm(part) })),
    isIdentifier,
    isName,
    kind,
    count: [...apart, ...others].reduce((sum, other) => sum + other.count, own + fromParts),
    weight: Math.max(0.05, information) * factor,
  };
}

/** Returns the other terms of the index that express a term. */
function othersOf(
  { term, word, extra, member, isIdentifier, isName, kind }: Draft,
  { count, correct }: IndexTerms,
  { isShort, isUnknown }: { isShort: boolean; isUnknown: boolean },
): Counted[] {
  const known = (terms: string[], strength: number): Counted[] =>
    terms
      .map((other) => ({ term: other, hash: hashTerm(other), strength, count: count(other) }))
      .filter((other) => other.count > 0);
  const others = [...known(extra, 1), ...known(member === null ? [] : [member], partsStrength)];
  if (kind !== 'word') return others;
  if (!isIdentifier) others.push(...known(sameMeaning(term), synonymStrength));
  // another product may have a similar name
  const isMisspelled = isShort && isUnknown && !isName && others.length === 0;
  return isMisspelled ? known(correct(word), correctedStrength) : others;
}

/**
 * Splits a word in two if the index mostly has the two words: `frontmatter` as `front matter`. Returns nothing for most
 * words.
 */
function halvesOf({ term, word }: Draft, { count }: IndexTerms): Counted[] {
  if (word.length < minSplitLength || word.length > maxSplitLength || !/^[A-Za-z]+$/.test(word)) return [];
  const least = count(term) * apartFactor;
  let best: Counted | null = null;
  for (let at = 2; at + 2 <= word.length; at++) {
    const words = [word.slice(0, at), word.slice(at)].map((half) => half.toLowerCase());
    if (words.some((half) => stopWords.has(half))) continue;
    const [first = '', last = ''] = words.map(termOf);
    const found = Math.min(count(first), count(last));
    if (found <= Math.max(least, best?.count ?? 0)) continue;
    best = { term: `${first} ${last}`, hash: hashTerm(last), after: hashTerm(first), strength: 1, count: found };
  }
  return best === null ? [] : [best];
}
