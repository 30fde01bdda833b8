import type { QueryTerm } from './query-terms.ts';

export interface PageEvidence {
  /** Evidence of the passage, and a small part of its page's. */
  score: number;
  /**
   * 0 to 1. Lower if names of the question are missing, because a page without them cannot answer a question about
   * them.
   */
  support: number;
}

interface Weighed {
  page: number;
  score: number;
  /** Share of each term that the passage contains. */
  presence: number[];
}

/** Weight of the page; small compared with the passage itself. */
const wholePage = 0.08;
const severalPassages = 0.056;
/** Weight of a name that occurs elsewhere on the page. */
const elsewhere = 0.8;
const maxDoubt = 0.5;

/** Adds the evidence of its page to each passage: terms that it lacks itself, and further good passages. */
export function withPageEvidence<T extends Weighed>(passages: T[], terms: QueryTerm[]): (T & PageEvidence)[] {
  const total = terms.reduce((sum, term) => sum + term.weight, 0) || 1;
  const byPage = new Map<number, number[]>();
  for (const { page, presence } of passages) {
    const known = byPage.get(page);
    byPage.set(page, known === undefined ? presence : known.map((value, at) => Math.max(value, presence[at] ?? 0)));
  }
  const thirdBest = thirdScores(passages);
  return passages.map((passage) => {
    const ofPage = byPage.get(passage.page) ?? [];
    const more =
      terms.reduce((sum, term, at) => sum + term.weight * ((ofPage[at] ?? 0) - (passage.presence[at] ?? 0)), 0) / total;
    return {
      ...passage,
      support: supportOf(terms, passage.presence, ofPage),
      score: passage.score + wholePage * more + severalPassages * (thirdBest.get(passage.page) ?? 0),
    };
  });
}

function supportOf(terms: QueryTerm[], presence: number[], ofPage: number[]): number {
  let missing = 0;
  let total = 0;
  for (const [at, { kind, isName, isIdentifier, weight }] of terms.entries()) {
    if (kind !== 'word') continue;
    total += weight;
    if (isName || isIdentifier) missing += weight * (1 - Math.max(presence[at] ?? 0, elsewhere * (ofPage[at] ?? 0)));
  }
  return total === 0 ? 1 : 1 - (maxDoubt * missing) / total;
}

/** Returns the third-best score of each page: a page with several good passages is about the subject. */
function thirdScores(passages: Weighed[]): Map<number, number> {
  const best = new Map<number, [number, number, number]>();
  for (const { page, score } of passages) {
    const [first, second, third] = best.get(page) ?? [0, 0, 0];
    if (score > first) best.set(page, [score, first, second]);
    else if (score > second) best.set(page, [first, score, second]);
    else if (score > third) best.set(page, [first, second, score]);
  }
  return new Map([...best].map(([page, [, , third]]) => [page, third]));
}
