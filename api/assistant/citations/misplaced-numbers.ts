import { termsOf } from '../../../search/build/words.ts';
import { statesFact } from '../../../search/query/facts.ts';
import { createBlockReader, linesOf, sentencesOf, wholeLinks } from './blocks.ts';

interface Passage {
  text: string;
}

/** A sentence of a passage that has a number. */
interface Statement {
  text: string;
  terms: ReadonlySet<string>;
}

/** Words around a number that say what it is the number of. */
const contextWords = 6;
const fewestShared = 2;
/** Share of the words of the best statement that one with the number itself must have. */
const leastOfBest = 0.4;
const number = /^\p{N}[\p{N}.,]*$/u;

const readPassages = new WeakMap<Passage, Statement[]>();

/** Reports whether a fact is a number alone. */
export function isNumber(fact: string): boolean {
  return number.test(fact);
}

/**
 * Reports whether a number of a sentence is that of something else: one of the other passages says a number in most of
 * the same words, and the statements that have this number say it in hardly any of these. A sentence that shares few
 * words with the passages, as a translation does, tells nothing.
 */
export function isMisplaced(
  fact: string,
  { sentence, own, others }: { sentence: string; own: readonly Passage[]; others: readonly Passage[] },
): boolean {
  if (others.length === 0) return false;
  const context = contextOf(sentence, fact);
  const shared = (statements: Statement[]) =>
    Math.max(0, ...statements.map(({ terms }) => context.intersection(terms).size));
  const most = shared(others.flatMap(statementsOf));
  if (most < fewestShared || most * 2 <= context.size) return false;
  return shared(own.flatMap(statementsOf).filter(({ text }) => statesFact(text, fact))) < most * leastOfBest;
}

/** Returns the terms around a number, without the numbers among them; the text of a link says where it leads. */
function contextOf(sentence: string, fact: string): Set<string> {
  const words = sentence.replaceAll(wholeLinks, '').split(/\s+/);
  const at = words.findIndex((word) => word.includes(fact) && statesFact(word, fact));
  if (at < 0) return new Set();
  const around = words.slice(Math.max(0, at - contextWords), at + contextWords + 1).join(' ');
  return withoutNumbers(around);
}

function withoutNumbers(text: string): Set<string> {
  return new Set(termsOf(text).filter((term) => !/^\p{N}/u.test(term)));
}

function statementsOf(passage: Passage): Statement[] {
  const known = readPassages.get(passage);
  if (known !== undefined) return known;
  const reader = createBlockReader();
  const statements = [...reader.push(passage.text), reader.flush()]
    .flatMap(linesOf)
    .filter(({ kind }) => kind !== 'code')
    .flatMap(sentencesOf)
    .filter((text) => /\p{N}/u.test(text))
    .map((text) => ({ text, terms: withoutNumbers(text) }));
  readPassages.set(passage, statements);
  return statements;
}
