import type { DatabaseSync } from 'node:sqlite';
import { facetTerm } from './analyse-chunk.ts';
import { createCandidates } from './candidates.ts';
import { createTermCounts } from './common-terms.ts';
import { folderOf, pathOf } from './paths.ts';
import { readQuery } from './query-terms.ts';
import type { QueryTerm } from './query-terms.ts';
import { createRanker } from './rank.ts';
import type { SearchFilter, SearchRequest } from './site-index.ts';
import { unpackTerms } from './term-vector.ts';

export interface Passage {
  chunk: number;
  page: number;
  path: string;
  score: number;
}

interface Scored extends Passage {
  ordinal: number;
  presence: number[];
  boost: number;
  preference: number;
}

/** How much the wider evidence moves a passage; each is small beside what the passage itself says. */
const wholePage = 0.107;
const severalPassages = 0.094;
const samePage = 0.06;
const sameFolder = 0.02;
const hintsShare = 0.06;
const boostShare = 0.12;
const repeatedPage = 0.94;
/** Spreads the scores over 0 to 1, so that `weakEvidence` parts what is answered from what is not. */
const evidenceCurve = 0.6;

/** Returns the function that finds the passages of an index for a request, best first. */
export function createPassageFinder(database: DatabaseSync, { mainLanguage }: { mainLanguage: string }) {
  const count = createTermCounts(database);
  const passages = Number(database.prepare('select count(*) as count from chunks').get()?.count ?? 0);
  const findCandidates = createCandidates(database);
  const load = database.prepare(
    'select c.id, c.page, c.ordinal, c.terms, p.path, p.boost from json_each(?) as wanted join chunks as c on c.id = wanted.value join pages as p on p.id = c.page',
  );

  return function findPassages({ query, limit, filter, currentPath, hints }: SearchRequest): Passage[] {
    const terms = readQuery(query, { count, passages });
    const facets = facetsOf(filter ?? {}, mainLanguage);
    if (facets === 'none' || terms.length === 0) return [];
    const current = currentPath === undefined ? null : pathOf(currentPath);
    const nearby = current === null ? null : `"${facetTerm('page', current)}"`;
    const ids = findCandidates(terms, { facets, nearby });
    const weigh = createRanker(terms);
    const hintTerms = hints === undefined || hints.length === 0 ? [] : readQuery(hints.join(' '), { count, passages });
    const weighHints = createRanker(hintTerms);
    const scored = load.all(JSON.stringify(ids)).map((row): Scored => {
      const vector = unpackTerms(row.terms instanceof Uint8Array ? row.terms : new Uint8Array());
      const { score, presence } = weigh(vector);
      const path = String(row.path);
      const preference = nearness(path, current) + (hintTerms.length === 0 ? 0 : hintsShare * weighHints(vector).score);
      return {
        chunk: Number(row.id),
        page: Number(row.page),
        ordinal: Number(row.ordinal),
        path,
        boost: Number(row.boost),
        score,
        presence,
        preference,
      };
    });
    return inOrder(withPageEvidence(scored, terms), limit);
  };
}

function nearness(path: string, current: string | null): number {
  if (current === null) return 0;
  if (path === current || path === `${current}/index`) return samePage;
  return folderOf(path) !== '' && folderOf(path) === folderOf(current) ? sameFolder : 0;
}

/** What other passages of the same page say of the query counts a little for each of them. */
function withPageEvidence(scored: Scored[], terms: QueryTerm[]): Scored[] {
  const total = terms.reduce((sum, term) => sum + term.weight, 0) || 1;
  const byPage = new Map<number, number[]>();
  for (const { page, presence } of scored) {
    const known = byPage.get(page);
    byPage.set(page, known === undefined ? presence : known.map((value, at) => Math.max(value, presence[at] ?? 0)));
  }
  const thirdBest = thirdScores(scored);
  return scored.map((passage) => {
    const ofPage = byPage.get(passage.page) ?? [];
    const more =
      terms.reduce((sum, term, at) => sum + term.weight * ((ofPage[at] ?? 0) - (passage.presence[at] ?? 0)), 0) / total;
    return {
      ...passage,
      score: passage.score + wholePage * more + severalPassages * (thirdBest.get(passage.page) ?? 0),
    };
  });
}

/** The third best score of each page: a page with several good passages is about the subject. */
function thirdScores(scored: Scored[]): Map<number, number> {
  const best = new Map<number, [number, number, number]>();
  for (const { page, score } of scored) {
    const [first, second, third] = best.get(page) ?? [0, 0, 0];
    if (score > first) best.set(page, [score, first, second]);
    else if (score > second) best.set(page, [first, score, second]);
    else if (score > third) best.set(page, [first, second, score]);
  }
  return new Map([...best].map(([page, [, , third]]) => [page, third]));
}

/** Orders by score with preferences and boost; a page's further passages step back a little. */
function inOrder(scored: Scored[], limit: number): Passage[] {
  const rankOf = (passage: Scored) =>
    (passage.score + passage.preference) * (1 + boostShare * Math.log2(passage.boost));
  const compare = (a: { rank: number; passage: Scored }, b: { rank: number; passage: Scored }) =>
    b.rank - a.rank ||
    (a.passage.path < b.passage.path
      ? -1
      : a.passage.path > b.passage.path
        ? 1
        : a.passage.ordinal - b.passage.ordinal);
  const seen = new Map<number, number>();
  return scored
    .map((passage) => ({ passage, rank: rankOf(passage) }))
    .sort(compare)
    .map(({ passage, rank }) => {
      const repeats = seen.get(passage.page) ?? 0;
      seen.set(passage.page, repeats + 1);
      return { passage, rank: rank * repeatedPage ** repeats };
    })
    .sort(compare)
    .slice(0, Math.max(0, limit))
    .map(({ passage: { chunk, page, path, score } }) => ({
      chunk,
      page,
      path,
      score: Math.min(1, Math.max(0, score)) ** evidenceCurve,
    }));
}

/** The filter as a part of the full-text query; `none` when nothing can match. A page without a language is in the main one. */
function facetsOf({ language, version, tag, groups }: SearchFilter, mainLanguage: string): string | null | 'none' {
  const values = [language, version, tag, ...(groups ?? [])];
  if (values.some((value) => value !== undefined && value.trim() === '')) return 'none';
  const parts: string[] = [];
  const oneOf = (terms: string[]) => parts.push(`(${terms.map((term) => `"${term}"`).join(' OR ')})`);
  if (language !== undefined) {
    const isMain = language.trim().toLowerCase() === mainLanguage;
    oneOf([facetTerm('language', language), ...(isMain ? [facetTerm('language', '')] : [])]);
  }
  if (version !== undefined) oneOf([facetTerm('version', version)]);
  if (tag !== undefined) oneOf([facetTerm('tag', tag)]);
  if (groups !== undefined && groups.length > 0) oneOf(groups.slice(0, 100).map((group) => facetTerm('group', group)));
  return parts.length === 0 ? null : `{facets} : (${parts.join(' AND ')})`;
}
