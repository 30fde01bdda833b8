import { statesFact } from './facts.ts';
import { referredTexts } from './referred-texts.ts';
import type { SiteIndex } from './site-index.ts';

/** A question, and what the passages found for it should contain. */
export interface ExpectingQuestion {
  /** Earlier questions of its conversation, oldest first. */
  history?: string[];
  text: string;
  /** Paths of pages, of which at least one should be found. */
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
): boolean {
  const hits = index.search({ query: text, limit: passages, referred: referredTexts(text, history) });
  const isAnswerable = hits.some(({ score }) => score >= index.weakScore);
  if (!expectsAnswer) return !isAnswerable;
  const pages = expectedPages.flatMap((page) => index.page(page)?.path ?? []);
  if (expectedPages.length > 0 && !hits.some(({ path }) => pages.includes(path))) return false;
  const found = hits.flatMap(({ title, headings, content }) => [title, ...headings, content]).join('\n');
  return isAnswerable && expectedFacts.every((fact) => statesFact(found, fact));
}
