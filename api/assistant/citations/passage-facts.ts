import { containsFact, normalized } from '../../../search/query/facts.ts';
import { foldNames, haveName, type Name } from './names.ts';

/** A passage that the model was shown. */
export interface ShownPassage {
  /** Path of its page. */
  path: string;
  /** Its text with the headings above it. */
  text: string;
}

/** Something that a sentence states and a passage can be searched for: a number, code, an option or identifier, or a name. */
export type Fact = string | Name;

const codeSpans = /(`{1,3})([^`\n]{1,200})\1/g;
const letterOrNumber = /[\p{L}\p{N}]/u;

/** A passage is compared with every sentence that cites it. */
const normalizedPassages = new WeakMap<ShownPassage, string>();
const foldedPassages = new WeakMap<ShownPassage, string>();

/** Reports whether a passage contains a fact, other than as a part of a longer word or number. */
export function hasFact(passage: ShownPassage, fact: Fact): boolean {
  return typeof fact === 'string'
    ? containsFact(cached(normalizedPassages, passage, evidenceText), normalized(fact))
    : haveName([namesOf(passage)], fact);
}

/** Returns a passage in the form in which names are looked for in it. */
export function namesOf(passage: ShownPassage): string {
  return cached(foldedPassages, passage, foldNames);
}

/** Returns a normalized passage, also with spaces around code that is part of a word: `Enum`s contain `Enum`. */
function evidenceText(text: string): string {
  const apart = text.replaceAll(codeSpans, (span: string, _marks, code: string, at: number) =>
    letterOrNumber.test(`${text.charAt(at - 1)}${text.charAt(at + span.length)}`) ? ` ${code} ` : span,
  );
  return apart === text ? normalized(text) : `${normalized(text)}\n${normalized(apart)}`;
}

function cached(cache: WeakMap<ShownPassage, string>, passage: ShownPassage, form: (text: string) => string): string {
  const known = cache.get(passage) ?? form(passage.text);
  cache.set(passage, known);
  return known;
}
