import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { parseGroundedQuestion, type GroundedQuestion, type Passage } from '../grounded-question.ts';
import { createOfflineModel, wordsOf, type AnswerPart } from '../offline-model.ts';
import { excerptOf } from './excerpt.ts';
import { overlapOf, termsOf } from './terms.ts';

/** What the model says when the passages do not answer the question. */
export const notFoundSentence = 'I could not find this in the documentation.';

const mostQuoted = 3;
/** How close a passage must come to the best one to be quoted beside it. */
const nearBest = 0.75;

/** A language model that answers with the best passages of the prompt, word for word, each with its source. */
export function createOfflineExtract(): LanguageModelV4 {
  return createOfflineModel({ modelId: 'extract', answer: ({ prompt }) => answer(prompt) });
}

function* answer(prompt: LanguageModelV4Prompt): Generator<AnswerPart> {
  const question = questionOf(prompt);
  const quoted = question === null ? [] : quotedPassages(question);
  if (question === null || quoted.length === 0) {
    yield* wordsOf(notFoundSentence);
    return;
  }
  for (const { id, url, title } of quoted) yield { type: 'source', id, url, title };
  const terms = termsOf(question.question);
  for (const [index, passage] of quoted.entries()) {
    const lead = `${index === 0 ? '' : '\n\n'}From [${linkTextOf(passage)}](${linkTargetOf(passage.url)}):\n\n`;
    yield* wordsOf(lead + excerptOf(passage.content, terms));
  }
}

/** The passages an answer quotes, in their order; none when the evidence is weak. */
function quotedPassages({ question, passages, weakScore }: GroundedQuestion): Passage[] {
  const terms = termsOf(question);
  const best = Math.max(...passages.map(({ score }) => score));
  if (!(best >= weakScore)) return [];
  const floor = Math.max(weakScore, best * nearBest);
  const seen = new Set<string>();
  const strong = passages.filter((passage) => {
    const { title, headings, content, score } = passage;
    if (score < floor || content.trim() === '' || seen.has(content)) return false;
    if (terms.size > 0 && overlapOf(terms, [title, ...headings, content].join('\n')) === 0) return false;
    seen.add(content);
    return true;
  });
  return strong.slice(0, mostQuoted);
}

function questionOf(prompt: LanguageModelV4Prompt): GroundedQuestion | null {
  const message = prompt.findLast(({ role }) => role === 'user');
  if (message?.role !== 'user') return null;
  const text = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  return parseGroundedQuestion(text);
}

function linkTextOf({ title, headings, path }: Passage): string {
  const names = [title, ...headings].filter((name, index, all) => name.trim() !== '' && name !== all[index - 1]);
  const text = names.length === 0 ? path : names.join(' › ');
  return text.replace(/\s+/gu, ' ').replace(/[\\[\]]/gu, (character) => `\\${character}`);
}

/** An address that ends where the link does. */
function linkTargetOf(url: string): string {
  return url.replace(/[\s()<>]/gu, (character) => {
    return `%${character.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`;
  });
}
