import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { parseGroundedQuestion, type GroundedQuestion, type Passage } from '../grounded-question.ts';
import { createOfflineModel, wordsOf, type AnswerPart } from '../offline-model.ts';
import { textOf, unitsOf } from './blocks.ts';
import { excerptOf } from './excerpt.ts';
import { overlapOf, termsOf } from './terms.ts';

/** Name of the model, as `provider/model`. */
export const extractName = 'offline/extract';

/** The model's answer when the passages do not answer the question. */
const notFoundSentence = 'I could not find this in the documentation.';

const maxQuoted = 3;
/** Minimum score of a further passage, relative to the first one: lower on the same page, where they belong together. */
const nearOnSamePage = 0.82;
const nearElsewhere = 0.93;
const farFromBest = 0.75;

/**
 * Creates a language model that answers with the best passages of the prompt, verbatim, each with its source.
 * @param lead text at the start of every answer
 */
export function createOfflineExtract({ lead = '' } = {}): LanguageModelV4 {
  return createOfflineModel({
    modelId: 'extract',
    *answer({ prompt }) {
      yield* wordsOf(lead);
      yield* answer(prompt);
    },
  });
}

function* answer(prompt: LanguageModelV4Prompt): Generator<AnswerPart> {
  const question = questionOf(prompt);
  const quoted = question === null ? [] : quotedPassages(question);
  if (question === null || quoted.length === 0) {
    yield* wordsOf(notFoundSentence);
    return;
  }
  for (const { id, url, title } of quoted) yield { type: 'source', id, url, title };
  const terms = termsOf(question.query ?? question.question);
  for (const [index, passage] of quoted.entries()) {
    const lead = `${index === 0 ? '' : '\n\n'}From [${linkTextOf(passage)}](${linkTargetOf(passage.url)}):\n\n`;
    yield* wordsOf(lead + excerptOf(passage.content, terms));
  }
}

/** Returns the passages that an answer quotes, in order; none when the evidence is weak. */
function quotedPassages({ question, query, passages, weakScore }: GroundedQuestion): Passage[] {
  const terms = termsOf(query ?? question);
  const best = Math.max(...passages.map(({ score }) => score));
  if (!(best >= weakScore)) return [];
  const seen = new Set<string>();
  const answered = new Set<string>();
  let first: Passage | null = null;
  const quoted: Passage[] = [];
  for (const passage of byAnswer(passages, terms)) {
    const { title, headings, content, score } = passage;
    if (score < Math.max(weakScore, first === null ? best * farFromBest : nearTo(first, passage))) continue;
    if (content.trim() === '' || seen.has(content)) continue;
    const found = terms.intersection(termsOf([title, ...headings, content].join('\n')));
    if (terms.size > 0 && found.size === 0) continue;
    // Another page has to add to the answer; more of the same reads as a list of search results.
    if (first !== null && passage.path !== first.path && found.isSubsetOf(answered)) continue;
    seen.add(content);
    for (const term of found) answered.add(term);
    first ??= passage;
    quoted.push(passage);
  }
  return quoted.slice(0, maxQuoted);
}

/** Sorts the passages that score about as high as the first by how many terms a single unit of them contains. */
function byAnswer(passages: Passage[], terms: Set<string>): Passage[] {
  const floor = (passages[0]?.score ?? 0) * nearElsewhere;
  const rival = passages.findIndex(({ score }) => !(score >= floor));
  const rivals = rival === -1 ? passages : passages.slice(0, rival);
  return [
    ...rivals
      .map((passage) => ({ passage, coverage: coverageOf(passage, terms) }))
      .sort((a, b) => b.coverage - a.coverage)
      .map(({ passage }) => passage),
    ...passages.slice(rivals.length),
  ];
}

function coverageOf({ title, headings, content }: Passage, terms: Set<string>): number {
  const about = [title, ...headings].join('\n');
  return Math.max(
    ...[{ blocks: [] }, ...unitsOf(content)].map(({ blocks }) => overlapOf(terms, `${about}\n${textOf(blocks)}`)),
  );
}

function nearTo(first: Passage, { path }: Passage): number {
  return first.score * (path === first.path ? nearOnSamePage : nearElsewhere);
}

function questionOf(prompt: LanguageModelV4Prompt): GroundedQuestion | null {
  const message = prompt.findLast(({ role }) => role === 'user');
  if (message?.role !== 'user') return null;
  // earlier parts are messages that had no answer
  const part = message.content.findLast(({ type }) => type === 'text');
  return part?.type === 'text' ? parseGroundedQuestion(part.text) : null;
}

function linkTextOf({ title, headings, path }: Passage): string {
  const names = [title, ...headings].filter((name, index, all) => name.trim() !== '' && name !== all[index - 1]);
  const text = names.length === 0 ? path : names.join(' › ');
  return text.replace(/\s+/gu, ' ').replace(/[\\[\]]/gu, (character) => `\\${character}`);
}

/** Escapes the characters of an address that would end a Markdown link. */
function linkTargetOf(url: string): string {
  return url.replace(/[\s()<>]/gu, (character) => {
    return `%${character.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`;
  });
}
