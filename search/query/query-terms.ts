import type { DatabaseSync } from 'node:sqlite';
import { findIdentifiers, isIdentifier } from '../build/identifiers.ts';
import { sameMeaning } from '../build/synonyms.ts';
import { createSharedCache } from './shared-cache.ts';
import { hashTerm } from './term-vector.ts';
import { eachTerm, questionWords, stopWords, termOf } from '../build/words.ts';

/** A concept of a query, and the terms that express it. */
export interface QueryTerm {
  /** The strongest first; `strength` is the share of the concept that a passage with only this term has. */
  alternatives: { term: string; hash: number; strength: number }[];
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

/** Numbers of passages by term, of the open indexes. */
const counts = createSharedCache<string, number>(50_000);
const longestQuery = 4000;
const mostTerms = 24;
export const partsStrength = 0.85;
const synonymStrength = 0.6;
const shareOfReferred = 0.5;
const plain = { parts: [], isIdentifier: false };

/** Returns a function that returns the number of passages with a term, and caches the results. */
export function createTermCounts(database: DatabaseSync): (term: string) => number {
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
  extra: string[];
  parts: string[];
  isIdentifier: boolean;
  isName: boolean;
  kind: QueryTerm['kind'];
}

/**
 * Splits a query into terms; of a very long one, the rarest are kept. Without a significant word, its stop words count.
 */
export function readQuery(
  query: string,
  { count, passages }: { count: (term: string) => number; passages: number },
): QueryTerm[] {
  const drafts = joinNeighbours(draftsOf(query.slice(0, longestQuery)));
  const terms = drafts.map((draft) => weighed(draft, count, passages));
  const distinct = [...new Map(terms.map((term) => [term.alternatives[0]?.term ?? '', term])).values()];
  if (distinct.length <= mostTerms) return distinct;
  const kept = new Set(distinct.toSorted((a, b) => b.weight - a.weight).slice(0, mostTerms));
  return distinct.filter((term) => kept.has(term));
}

/** Reads a query with the words of the texts that it refers to, which count half and are not expected as names. */
export function readReferring(
  query: string,
  referred: readonly string[],
  index: Parameters<typeof readQuery>[1],
): QueryTerm[] {
  const terms = new Map(readQuery(query, index).map((term) => [term.alternatives[0]?.term, term]));
  for (const text of referred.toReversed()) {
    for (const term of readQuery(text, index)) {
      const name = term.alternatives[0]?.term;
      if (term.kind !== 'word' || terms.has(name) || terms.size >= mostTerms) continue;
      terms.set(name, { ...term, isName: false, weight: term.weight * shareOfReferred });
    }
  }
  return [...terms.values()];
}

function draftsOf(query: string): Draft[] {
  const drafts: Draft[] = [];
  const isNamed = nameTestOf(query);
  for (const match of query.matchAll(/[^\s,;:!?()[\]{}"“”`'<>|=/]+/g)) {
    const raw = match[0].replace(/[.…]+$/u, '');
    const identifier = isIdentifier(raw) ? findIdentifiers(raw, { inCode: true })[0] : undefined;
    if (
      identifier !== undefined &&
      (identifier.parts.length > 0 || identifier.flag !== null || /^[\d.]+$/.test(identifier.whole))
    ) {
      const { whole, flag } = identifier;
      const parts = identifier.parts.filter((part) => !stopWords.has(part));
      drafts.push({
        term: flag ?? whole,
        extra: flag === null ? [] : [whole],
        parts,
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
          extra: [],
          isName: isNamed(word, match.index),
          kind: kindOf(word.toLowerCase()),
        }),
      { stopWords: true },
    );
  }
  return drafts;
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
    const joined = termOf(draft.term + next.term);
    if (draft.kind !== 'stop') draft.extra.push(joined);
    if (next.kind !== 'stop') next.extra.push(joined);
  }
  return drafts;
}

function weighed(draft: Draft, count: (term: string) => number, passages: number): QueryTerm {
  const { term, extra, parts, isIdentifier, isName, kind } = draft;
  const synonyms = kind === 'word' && !isIdentifier ? sameMeaning(term) : [];
  const alternatives = [
    { term, hash: hashTerm(term), strength: 1 },
    ...extra.filter((other) => count(other) > 0).map((other) => ({ term: other, hash: hashTerm(other), strength: 1 })),
    ...synonyms
      .filter((other) => count(other) > 0)
      .map((other) => ({ term: other, hash: hashTerm(other), strength: synonymStrength })),
  ];
  const fromParts = parts.length === 0 ? 0 : Math.min(...parts.map((part) => count(part)));
  const own = count(term);
  const found = own > 0 ? own : Math.max(fromParts, ...alternatives.map((other) => count(other.term)));
  const information = Math.log(1 + (passages - Math.min(found, passages) + 0.5) / (found + 0.5));
  const factor = kind === 'word' ? 1 : kind === 'question' ? 0.3 : 0.1;
  return {
    alternatives,
    parts: parts.map((part) => ({ term: part, hash: hashTerm(part) })),
    isIdentifier,
    isName,
    kind,
    count: own + alternatives.slice(1).reduce((sum, other) => sum + count(other.term), 0) + fromParts,
    weight: Math.max(0.05, information) * factor,
  };
}
