import { eachTerm, questionWords } from '../build/words.ts';
import { referredTexts } from './referred-texts.ts';
import type { SearchHit, SearchRequest } from './search-request.ts';

/** Longest query that is split, in characters; a longer one quotes a text or code. */
const maxLength = 500;
const maxQuestions = 3;

/**
 * Words that begin a question. An auxiliary counts only before a subject, so that "or is archived" does not begin one.
 */
const questionStart = String.raw`(?:(?:how|what|where|when|why|which|who|whose)\b|(?:can|could|do|does|did|is|are|may|must|should|will|would)\s(?:i|we|you|it|there|they|one|the|an?|my)\b)`;
const separator = new RegExp(
  String.raw`(?<=[?？؟])|[,;]?\s(?:and|or|but|also)\s(?:also\s|then\s)?(?=${questionStart})|(?<!\b(?:and|or|but|also))[,;]\s(?=${questionStart})`,
  'iu',
);
const isQuestion = new RegExp(String.raw`[?？؟]$|^${questionStart}`, 'iu');
/** A word that only connects a question with the one before it. */
const joining = /^(?:and|or|but|also),?\s/iu;

/** Returns the searches for the questions of a compound one; none for a single question. */
export function partsOf(request: SearchRequest): SearchRequest[] {
  const questions = questionsIn(request.query);
  return questions.map((query, at) => ({
    ...request,
    query,
    referred: [...(request.referred ?? []), ...referredTexts(query, questions.slice(0, at))],
  }));
}

/**
 * Returns the best passage for the whole question, then the best for each of its parts in turn. If a part has no good
 * passage, it may not be a question, and the passages for the whole question are returned unchanged.
 */
export function mergeParts(
  whole: SearchHit[],
  parts: SearchHit[][],
  { weakScore, limit }: { weakScore: number; limit: number },
): SearchHit[] {
  if (parts.length === 0 || parts.some(([best]) => best === undefined || best.score < weakScore)) return whole;
  const inTurn = Array.from({ length: limit }, (_, at) => parts.flatMap((hits) => hits[at] ?? [])).flat();
  const merged = new Map<string, SearchHit>();
  for (const hit of [...whole.slice(0, 1), ...inTurn, ...whole]) {
    const passage = `${hit.path}\n${hit.content}`;
    if (!merged.has(passage)) merged.set(passage, hit);
  }
  return [...merged.values()].slice(0, limit);
}

function questionsIn(query: string): string[] {
  if (query.length > maxLength) return [];
  const questions = query
    .replaceAll(/\s+/gu, ' ')
    .split(separator)
    .map((question) => question.trim().replace(joining, ''))
    .filter((question) => question !== '');
  const isCompound =
    questions.length > 1 &&
    questions.length <= maxQuestions &&
    questions.slice(1).every((question) => isQuestion.test(question)) &&
    questions.every(hasSubject);
  return isCompound ? questions : [];
}

function hasSubject(question: string): boolean {
  let found = false;
  eachTerm(question, (_, word) => (found ||= !questionWords.has(word.toLowerCase())), { stopWords: false });
  return found;
}
