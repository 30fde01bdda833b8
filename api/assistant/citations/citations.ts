import { isIdentifier } from '../../../search/build/identifiers.ts';
import type { Source } from '../../../db/sites/threads.ts';
import { unspaced } from '../../../search/build/unspaced.ts';
import type { CitedPassage, FindCitedPassages } from './cited-passages.ts';
import { createBlockReader, linesOf, sentencesOf, wholeLinks } from './blocks.ts';
import { isMisplaced, isNumber } from './misplaced-numbers.ts';
import { foldNames, haveName, isEnglish, isOfNames, namesIn } from './names.ts';
import { hasFact, namesOf, type Fact, type ShownPassage } from './passage-facts.ts';

/** A sentence of an answer, the sources it cites, and what it states that they do not contain. */
export interface Citation {
  text: string;
  /** Ids of the answer's sources. */
  sources: string[];
  /** The passage that supports it best, then passages with what that one lacks. Only of sources that the model was shown. */
  passages: CitedPassage[];
  /** Numbers, names, code, options and identifiers of the sentence that these passages do not contain. */
  unsupported: string[];
}

/** Sentences per answer; one of 1,000 is 30 pages long. */
export const maxCitations = 1_000;
export const maxFacts = 100;
const maxSentenceLength = 1_000;
/** Facts checked per answer; each takes one pass over what the model was shown. */
const maxFactsChecked = 3_000;
/** Facts checked without yielding. */
const maxFactsPerBlock = 300;
const links = /\]\(<?([^()\s<>]{1,2000})>?\)/g;
const codeSpans = /(`{1,3})([^`\n]{1,200})\1/g;
const title = /(^[^\p{L}]*\*\*[^*\n]{1,200}(?:[:.]\*\*|\*\*(?=\s*[:–—-]))|\[[^[\]\n]{0,500}\])/u;
const unspacedLetters = new RegExp(unspaced, 'gu');
const escapes = /\\(?=[!-/:-@[-`{-~])/g;
/** A single hyphen after emphasis or a quotation mark joins words, as in `**Docket**-Server`. */
const words = /(?<![\p{L}\p{N}_-])(?:(?:--|(?<![^\s([/,'"])-)[A-Za-z][\w-]*|[\p{L}\p{N}_$][\p{L}\p{N}_$.,:-]*)/gu;
const emphasized = /^_*(\p{L}+)_*$/u;
/** Nouns of a compound, as in `OAuth2-Scopes`. */
const nouns = /(?:-\p{Lu}[\p{Ll}\p{M}]+){1,8}$/u;
/** Like `e.g.` and `z.B.`, without its last period. */
const abbreviation = /^(?:\p{L}\.)+\p{L}$/u;

export interface CitedPages {
  /** Passages that the model was shown. A tool call may add more while the answer is checked. */
  shown: readonly ShownPassage[];
  /** Returns text whose names an answer may repeat, such as the question. Called only for an answer that names something. */
  known(): string;
  /** Returns the path of the page that a link leads to; null for other links. */
  pathOf(url: string): string | null;
}

/** A sentence with the spaces around it, the pages it cites, and what it states that they do not contain. */
export interface CheckedSentence {
  text: string;
  paths: string[];
  /** Its facts that these pages contain. */
  supported: Fact[];
  unsupported: string[];
}

/** Checks the blocks of one answer, in order. Returns the sentences of each line of a block. */
export type CheckBlock = (block: string) => { kind: 'code' | 'row' | 'sentences'; sentences: CheckedSentence[] }[];

/**
 * Creates a check that attributes each sentence of an answer to the pages it links to: those of the sentence, else of
 * its paragraph, else the latest before it. What a sentence quotes is compared with what the model was shown of these
 * pages. After `maxCitations` sentences, and a number of facts of the answer or of one block, nothing is reported as
 * unsupported.
 */
export function createBlockCheck({ shown, known, pathOf }: CitedPages): CheckBlock {
  let sentencesLeft = maxCitations;
  let factsLeft = maxFactsChecked;
  let latest: string[] = [];
  let foldedKnown: string | null = null;
  const namesShown = (passages: readonly ShownPassage[]) => [
    (foldedKnown ??= foldNames(known())),
    ...passages.map(namesOf),
  ];
  return (block) => {
    let leftInBlock = Math.min(factsLeft, maxFactsPerBlock);
    // a link to a page that was not shown is the source of no other sentence
    const ofBlock = pathsIn(block, pathOf).filter((path) => shown.some((passage) => passage.path === path));
    const options = { isEnglish: isEnglish(block) };
    const checked = linesOf(block).map((line) => ({
      kind: line.kind,
      sentences: sentencesOf(line).map((text) => {
        const own = pathsIn(text, pathOf);
        const paths = own.length > 0 ? own : ofBlock.length > 0 ? ofBlock : latest;
        if (!isSentence(text) || sentencesLeft === 0) return { text, paths, supported: [], unsupported: [] };
        sentencesLeft -= 1;
        const supported: Fact[] = [];
        const unsupported = new Set<string>();
        for (const { part, evidence } of partsOf(text.trim().slice(0, maxSentenceLength), { shown, paths })) {
          const facts = factsOf(part, options).slice(0, leftInBlock);
          leftInBlock -= facts.length;
          factsLeft -= facts.length;
          const names = facts.length === 0 ? [] : namesShown(evidence);
          for (const fact of facts) {
            const isName = typeof fact !== 'string';
            if (isName ? haveName(names, fact) : isStated(fact, { sentence: part, evidence })) supported.push(fact);
            else unsupported.add(isName ? fact.words.join(' ') : fact);
          }
        }
        return { text, paths, supported, unsupported: [...unsupported] };
      }),
    }));
    if (ofBlock.length > 0) latest = ofBlock.slice(-1);
    return checked;
  };
}

/**
 * Attributes the first sentences of an answer to its sources and their passages, and checks them. Lazy, so that the
 * caller can yield between sentences.
 */
export function* citationsOf(
  answer: string,
  { sources, findPassages, ...pages }: CitedPages & { sources: readonly Source[]; findPassages: FindCitedPassages },
): Generator<Citation, void> {
  const reader = createBlockReader();
  const check = createBlockCheck(pages);
  let sentencesLeft = maxCitations;
  for (const block of [...reader.push(answer), reader.flush()]) {
    for (const { text, paths, supported, unsupported } of check(block).flatMap(({ sentences }) => sentences)) {
      if (!isSentence(text)) continue;
      if (sentencesLeft === 0) return;
      sentencesLeft -= 1;
      const sentence = text.trim().slice(0, maxSentenceLength);
      yield {
        text: sentence,
        sources: sources.filter(({ path }) => paths.includes(path)).map(({ id }) => id),
        passages: findPassages(sentence, { paths, facts: supported }),
        unsupported,
      };
    }
  }
}

/** Reports whether a text has words, and is not only punctuation. */
export function isSentence(text: string): boolean {
  return /\p{L}/u.test(text);
}

/** Returns the paths of the pages that a text links to. */
export function pathsIn(text: string, pathOf: CitedPages['pathOf']): string[] {
  return [...new Set([...text.matchAll(links)].flatMap(([, url = '']) => pathOf(url) ?? []))];
}

/**
 * Returns what was shown of the cited pages; of all pages if the sentence cites none. Of a page that was not shown, the
 * model knows only what other pages call it.
 */
function partsOf(
  sentence: string,
  { shown, paths }: { shown: readonly ShownPassage[]; paths: readonly string[] },
): { part: string; evidence: readonly ShownPassage[] }[] {
  if (paths.length === 0) return [{ part: sentence, evidence: shown }];
  const evidence = shown.filter(({ path }) => paths.includes(path));
  if (evidence.length > 0) return [{ part: sentence, evidence }];
  return [
    { part: sentence.replaceAll(wholeLinks, ']'), evidence: [] },
    { part: (sentence.match(wholeLinks) ?? []).join(' '), evidence: shown },
  ];
}

/** Reports whether passages state a fact; a number, in words like those of the sentence. */
function isStated(
  fact: string,
  { sentence, evidence }: { sentence: string; evidence: readonly ShownPassage[] },
): boolean {
  if (!isNumber(fact)) return evidence.some((passage) => hasFact(passage, fact));
  const own = evidence.filter((passage) => hasFact(passage, fact));
  const others = evidence.filter((passage) => !own.includes(passage));
  return own.length > 0 && !isMisplaced(fact, { sentence, own, others });
}

/** Returns the code, options, identifiers, numbers and names of a sentence. */
function factsOf(sentence: string, options: { isEnglish: boolean }): Fact[] {
  // numbers of a list's items are not facts
  const prose = sentence.replace(/\]\([^()]*\)/g, ']').replace(/^[ \t]*\d{1,3}[.)]\s/gm, '');
  const codes = [...prose.matchAll(codeSpans)].map(([, , code = '']) => code.trim());
  // the rest of `Session`-level is no option
  const spaced = prose.replaceAll(codeSpans, '`').replaceAll(unspacedLetters, ' ').replaceAll(escapes, '');
  const others = [...spaced.matchAll(words)]
    .map(([word]) =>
      word
        .replace(/(?<![.,:-])[.,:-]+$/, '')
        .replace(nouns, '')
        .replace(emphasized, '$1'),
    )
    .filter(
      (word) =>
        /\p{N}/u.test(word) ||
        word.startsWith('-') ||
        (isIdentifier(word) && !isOfNames(word) && !abbreviation.test(word)),
    );
  const isHeading = /^\s*#/.test(sentence);
  // labels and the texts of links are titles
  const names = spaced
    .split(title)
    .flatMap((part, at) => namesIn(part, { ...options, isHeading: isHeading || at % 2 === 1 }));
  return [...new Set([...codes, ...others].filter((fact) => fact !== '')), ...names].slice(0, maxFacts);
}
