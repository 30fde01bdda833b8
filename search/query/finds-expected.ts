import { statesFact } from './facts.ts';
import { referredTexts } from './referred-texts.ts';
import type { SiteIndex, SitePages } from './site-index.ts';
import { trimEndSlashes } from '../../lib/trim-end-slashes.ts';

/** A question, and what the passages found for it should contain. */
export interface ExpectingQuestion {
  /** Earlier questions of its conversation, oldest first. */
  history?: string[];
  text: string;
  /** Paths or URLs of pages, of which at least one should be found. */
  expectedPages: string[];
  expectedFacts: string[];
  /** False for a question that the documentation should leave unanswered. */
  expectsAnswer: boolean;
}

const passages = 5;

/** Reports whether an index finds what an answer to a question needs, without asking a model. */
export function findsExpected(
  index: SiteIndex,
  { history = [], text, expectedPages, expectedFacts, expectsAnswer }: ExpectingQuestion,
  baseUrl: string | null,
): boolean {
  const hits = index.search({ query: text, limit: passages, referred: referredTexts(text, history) });
  const isAnswerable = hits.some(({ score }) => score >= index.weakScore);
  if (!expectsAnswer) return !isAnswerable;
  const pages = pathsOfExpected(index, { expectedPages, baseUrl });
  if (expectedPages.length > 0 && !hits.some(({ path }) => pages.includes(path))) return false;
  const found = hits.flatMap(({ title, headings, content }) => [title, ...headings, content]).join('\n');
  return isAnswerable && expectedFacts.every((fact) => statesFact(found, fact));
}

/** Returns the index's paths for expected pages, which people name by path, file or URL below the base URL. */
export function pathsOfExpected(
  index: Pick<SitePages, 'page'>,
  { expectedPages, baseUrl }: { expectedPages: readonly string[]; baseUrl: string | null },
): string[] {
  const base = trimEndSlashes(baseUrl ?? '');
  return expectedPages.flatMap((page) => {
    const isBelow = base !== '' && (page === base || ['/', '?', '#'].some((next) => page.startsWith(base + next)));
    return index.page(isBelow ? page.slice(base.length) : page)?.path ?? [];
  });
}
