import type { DatabaseSync } from 'node:sqlite';
import type { QueryTerm } from './query-terms.ts';
import { createSharedCache } from './shared-cache.ts';

interface Expression {
  text: string;
  /** Number of passages of its terms, added up: the cost of finding and ranking them. */
  count: number;
}

interface Visible {
  /** The filter; null for none. */
  facets: string | null;
  /** Passages that the reader may not see, as a full-text query; null for none. */
  hidden: string | null;
}

interface Surroundings extends Visible {
  /** The page whose passages are always included. */
  nearby: string | null;
}

const wanted = 150;
const enough = 60;
const maxRanked = 30_000;
const maxUnion = 6000;
const maxLeftOut = 5;
/**
 * Longest list of passages that is cached: intersecting two lists costs less than a full-text query for both
 * expressions.
 */
const maxKeptCount = 5000;
/** Cached lists of the open indexes, about 4 bytes per passage. */
const kept = createSharedCache<string, Int32Array>(1_000_000, ({ length }) => length + 50);

/**
 * Finds the passages worth ranking: those with all terms of the query, then those with most terms, then those with the
 * rare ones.
 */
export function createCandidates(database: DatabaseSync) {
  const ranked = database.prepare(
    `select rowid as id from chunk_text where chunk_text match ? and rank match 'bm25(6, 4, 1, 1, 0)' order by rank limit ?`,
  );
  const unranked = database.prepare('select rowid as id from chunk_text where chunk_text match ? limit ?');
  for (const statement of [ranked, unranked]) statement.setReturnArrays(true);

  /** Returns the passages with an expression, in the order of the index. */
  function listOf({ text }: Expression): Int32Array {
    const known = kept.get(database, text);
    if (known !== undefined) return known;
    const ids = Int32Array.from(unranked.all(text, -1), (row) => Number(row[0]));
    kept.set(database, text, ids);
    return ids;
  }

  return function findCandidates(terms: QueryTerm[], { facets, hidden, nearby }: Surroundings): number[] {
    const found = new Set<number>();
    const any = (text: string, limit: number): number => {
      const rows = unranked.all(within(text, { facets, hidden }), limit);
      for (const row of rows) found.add(Number(row[0]));
      return rows.length;
    };
    const canIntersect = facets === null && hidden === null;
    const withAll = (expressions: Expression[], limit: number): number => {
      if (!canIntersect || expressions.some(({ count }) => count > maxKeptCount))
        return any(and(expressions).text, limit);
      const common = intersect(expressions.map(listOf), limit);
      for (const id of common) found.add(id);
      return common.length;
    };
    const best = (expression: Expression, limit: number) => {
      if (expression.count > maxRanked) any(expression.text, limit * 2);
      else for (const row of ranked.all(within(expression.text, { facets, hidden }), limit)) found.add(Number(row[0]));
    };
    // ranking reads the whole list of every term, so with few passages it is cheaper to take them all
    const bestOfFew = (expressions: Expression[], limit: number) => {
      if (withAll(expressions, limit * 2) === limit * 2) best(and(expressions), limit);
    };
    const strong = strongTerms(terms);
    if (strong.length === 0) return [];
    const all = strong.map((term) => expressionOf(term));
    if (withAll(all, wanted * 2) === wanted * 2) {
      best(inHeadings(and(all)), wanted);
      best(and(all), wanted);
    }
    if (found.size < enough && strong.length > 2) {
      for (const left of strong.toSorted((a, b) => a.weight - b.weight).slice(0, maxLeftOut)) {
        const position = strong.indexOf(left);
        bestOfFew(all.toSpliced(position, 1), 40);
      }
    }
    if (found.size < enough && strong.length > 1) {
      best(or(affordable(all)), wanted);
    }
    if (nearby !== null) any(`(${or(all).text}) AND ${nearby}`, 30);
    return [...found];
  };
}

/** Limits a full-text query to the passages that a reader wants and may see. */
export function within(text: string, { facets, hidden }: Visible): string {
  const wanted = facets === null ? text : `(${text}) AND (${facets})`;
  return hidden === null ? wanted : `(${wanted}) NOT (${hidden})`;
}

/**
 * Returns the terms of the index to search for: significant words, else words that are typical of questions, else stop
 * words.
 */
function strongTerms(terms: QueryTerm[]): QueryTerm[] {
  const known = terms.filter((term) => term.count > 0);
  for (const kind of ['word', 'question', 'stop']) {
    const strong = known.filter((term) => term.kind === kind);
    if (strong.length > 0) return strong;
  }
  return [];
}

function expressionOf({ alternatives, parts, count }: QueryTerm): Expression {
  const options = alternatives.map(({ term }) => quoted(term));
  if (parts.length > 0) options.push(`(${parts.map(({ term }) => quoted(term)).join(' AND ')})`);
  return { text: options.length === 1 ? options.join('') : `(${options.join(' OR ')})`, count };
}

/** Returns a term as a text of a query of the full-text index. */
export function quoted(term: string): string {
  return `"${term.replaceAll('"', '""')}"`;
}

function and(expressions: Expression[]): Expression {
  return { text: expressions.map(({ text }) => text).join(' AND '), count: sum(expressions) };
}

function or(expressions: Expression[]): Expression {
  return { text: expressions.map(({ text }) => text).join(' OR '), count: sum(expressions) };
}

function inHeadings({ text, count }: Expression): Expression {
  return { text: `{title headings} : (${text})`, count };
}

/** Returns the rarest terms, as many as can be ranked in time. */
function affordable(expressions: Expression[]): Expression[] {
  const sorted = expressions.toSorted((a, b) => a.count - b.count);
  let total = 0;
  return sorted.filter(({ count }, at) => (total += count) <= maxUnion || at === 0);
}

function sum(expressions: Expression[]): number {
  return expressions.reduce((total, { count }) => total + count, 0);
}

/** Returns the first ids that all of the ascending lists contain. */
function intersect(lists: Int32Array[], limit: number): number[] {
  const [shortest = new Int32Array(), ...others] = lists.toSorted((a, b) => a.length - b.length);
  const positions = others.map(() => 0);
  const common: number[] = [];
  for (const id of shortest) {
    const isCommon = others.every((list, at) => {
      let position = positions[at] ?? 0;
      while (position < list.length && (list[position] ?? 0) < id) position += 1;
      positions[at] = position;
      return list[position] === id;
    });
    if (isCommon && common.push(id) === limit) break;
  }
  return common;
}
