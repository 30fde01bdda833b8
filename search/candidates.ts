import type { DatabaseSync } from 'node:sqlite';
import type { QueryTerm } from './query-terms.ts';

interface Expression {
  text: string;
  /** Passages its terms occur in, together: what finding and ranking them costs. */
  count: number;
}

const wanted = 150;
const enough = 60;
const dearestRanking = 30_000;
const dearestUnion = 6000;

/** Finds the passages worth ranking: those with all terms, then those with most, then those with the rare ones. */
export function createCandidates(database: DatabaseSync) {
  const ranked = database.prepare(
    `select rowid as id from chunk_text where chunk_text match ? and rank match 'bm25(6, 4, 1, 1, 0)' order by rank limit ?`,
  );
  const unranked = database.prepare('select rowid as id from chunk_text where chunk_text match ? limit ?');

  return function findCandidates(
    terms: QueryTerm[],
    { facets, nearby }: { facets: string | null; nearby: string | null },
  ): number[] {
    const found = new Set<number>();
    const collect = ({ text, count }: Expression, limit: number) => {
      const expression = facets === null ? text : `(${text}) AND (${facets})`;
      const rows =
        count <= dearestRanking ? ranked.iterate(expression, limit) : unranked.iterate(expression, limit * 2);
      for (const row of rows) found.add(Number(row.id));
    };
    const strong = strongTerms(terms);
    if (strong.length === 0) return [];
    const all = strong.map((term) => expressionOf(term));
    const few = unrankedIds(unranked, and(all), { facets, limit: wanted * 2 });
    for (const id of few) found.add(id);
    if (few.length >= wanted * 2) collect(inHeadings(and(all)), wanted);
    if (few.length >= wanted * 2) collect(and(all), wanted);
    if (found.size < enough && strong.length > 2) {
      for (const left of strong.toSorted((a, b) => a.weight - b.weight).slice(0, 5)) {
        collect(and(strong.filter((term) => term !== left).map((term) => expressionOf(term))), 40);
      }
    }
    if (found.size < enough && strong.length > 1) collect(or(affordable(all)), wanted);
    if (found.size < enough && strong.length > 1) collect(inHeadings(or(all)), 50);
    if (nearby !== null)
      for (const id of unrankedIds(unranked, or(all), {
        facets: facets === null ? nearby : `(${facets}) AND ${nearby}`,
        limit: 30,
      }))
        found.add(id);
    return [...found];
  };
}

function unrankedIds(
  statement: ReturnType<DatabaseSync['prepare']>,
  { text }: Expression,
  { facets, limit }: { facets: string | null; limit: number },
): number[] {
  const expression = facets === null ? text : `(${text}) AND (${facets})`;
  return statement.all(expression, limit).map((row) => Number(row.id));
}

/** Terms to look for: words the index knows, else those of the question, else stop words. */
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

function quoted(term: string): string {
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

/** The rarest terms, as many as can be ranked in good time. */
function affordable(expressions: Expression[]): Expression[] {
  const sorted = expressions.toSorted((a, b) => a.count - b.count);
  let total = 0;
  return sorted.filter(({ count }, at) => (total += count) <= dearestUnion || at === 0);
}

function sum(expressions: Expression[]): number {
  return expressions.reduce((total, { count }) => total + count, 0);
}
