import { linesOf, markerOf, sentencesOf } from '../../../api/assistant/citations/blocks.ts';
import { citationsOf } from '../../../api/assistant/citations/citations.ts';
import { isEnglish } from '../../../api/assistant/citations/names.ts';
import type { ShownPassage } from '../../../api/assistant/citations/passage-facts.ts';
import { isIdentifier } from '../../../search/build/identifiers.ts';
import { normalized, statesFact } from '../../../search/query/facts.ts';
import type { SiteIndex } from '../../../search/query/site-index.ts';

export const factKinds = ['number', 'code', 'flag', 'identifier', 'name', 'long name', 'acronym'] as const;
type FactKind = (typeof factKinds)[number];

/** A sentence of a page with a fact, and the passages that a model is shown with it. */
interface Statement {
  path: string;
  sentence: string;
  fact: string;
  /** Where the fact begins in the sentence. */
  at: number;
  shown: ShownPassage[];
}

/** How often the citation check marks sentences with a kind of fact, as `[marked, of]`. */
export interface KindFigures {
  /** True sentences, in the words of the page or in another style. */
  true: [number, number];
  /** True sentences in another order, or after another one that is true. */
  reordered: [number, number];
  /** Sentences whose fact was changed a little. */
  altered: [number, number];
  /** Sentences that state a fact of another page. */
  swapped: [number, number];
  /** Sentences that state a number of another passage of their page. */
  moved: [number, number];
}

/** Checked in English sentences only. */
const nameKinds: ReadonlySet<FactKind> = new Set<FactKind>(['name', 'long name', 'acronym']);
const maxStatements = 300;
const passages = 5;
const link = /!?\[([^[\]]*)\]\([^()]*\)/g;
const codeSpan = /`([^`\n]{2,60})`/g;
const facts: Record<FactKind, RegExp> = {
  number: /(?<![\p{L}\p{N}_.,:/#$€-])\d+(?:[.,]\d+)*(?![\p{L}\p{N}_:/-]|[.,]\d)/gu,
  code: codeSpan,
  flag: /(?<![\w-])--[a-z][a-z-]+(?![\w-])/g,
  identifier: /(?<![\p{L}\p{N}_$.`/@\\-])[\p{L}_$][\p{L}\p{N}_$.-]*[\p{L}\p{N}](?![\p{L}\p{N}`/@_])/gu,
  name: /(?<=[\p{Ll},] )\p{Lu}\p{Ll}{2,}(?![\p{L}\p{N}_-]| \p{Lu})/gu,
  'long name': /(?<=[\p{Ll},] )\p{Lu}\p{Ll}{2,}(?: \p{Lu}\p{L}{2,})+(?![\p{L}\p{N}_-])/gu,
  acronym: /(?<=[\p{Ll},] )\p{Lu}{3,}(?![\p{L}\p{N}_-])/gu,
};

/** Checks true and false sentences about the pages of an index as sentences of an answer. */
export function checkStatements(index: SiteIndex): Record<FactKind, KindFigures> {
  const sentences = sentencesIn(index);
  const figuresOf = (kind: FactKind): KindFigures => {
    const statements = statementsOf(index, sentences, kind);
    const figures: KindFigures = { true: [0, 0], reordered: [0, 0], altered: [0, 0], swapped: [0, 0], moved: [0, 0] };
    const count = (figure: keyof KindFigures, statement: Statement, sentence: string) => {
      figures[figure][1] += 1;
      if (isMarked(statement, sentence)) figures[figure][0] += 1;
    };
    for (const [position, statement] of statements.entries()) {
      const { sentence, fact } = statement;
      for (const style of new Set([sentence, sentence.replaceAll('`', ''), withFact(statement, styledOf(fact, kind))]))
        count('true', statement, style);
      count('reordered', statement, turned(sentence));
      const next = statements[position + 1];
      if (next?.path === statement.path)
        count(
          'reordered',
          { ...statement, shown: [...statement.shown, ...next.shown] },
          joined(next.sentence, sentence),
        );
      count('altered', statement, withFact(statement, alteredOf(fact, kind)));
      const other = [...statements.slice(position), ...statements].find(({ path }) => path !== statement.path);
      if (other !== undefined && normalized(other.fact) !== normalized(fact))
        count('swapped', statement, withFact(statement, other.fact));
      const moved = kind === 'number' ? movedNumber(statement) : null;
      if (moved !== null) count('moved', statement, withFact(statement, moved));
    }
    return figures;
  };
  return {
    number: figuresOf('number'),
    code: figuresOf('code'),
    flag: figuresOf('flag'),
    identifier: figuresOf('identifier'),
    name: figuresOf('name'),
    'long name': figuresOf('long name'),
    acronym: figuresOf('acronym'),
  };
}

/** Returns the sentences of the pages, without the links in them. */
export function sentencesIn(index: SiteIndex): { path: string; sentence: string }[] {
  return index.pages({ from: 0, limit: 100_000 }).flatMap(({ path }) =>
    linesOf(index.page(path)?.content ?? '')
      .filter(({ kind, text }) => kind === 'sentences' && !/^\s*(?:#|<|import |export )/.test(text))
      .flatMap((line) => sentencesOf({ ...line, text: line.text.slice(markerOf(line.text).length) }))
      .map((text) => text.replaceAll(link, '$1').trim())
      .filter((text) => text.length > 30 && text.length < 400 && !/[<>{}[\]]/.test(text))
      .map((sentence) => ({ path, sentence })),
  );
}

function statementsOf(index: SiteIndex, sentences: { path: string; sentence: string }[], kind: FactKind): Statement[] {
  const found = sentences.flatMap(({ path, sentence }) => {
    const found = nameKinds.has(kind) && !isEnglish(sentence) ? null : factIn(sentence, kind);
    return found === null ? [] : [{ path, sentence, ...found }];
  });
  const step = Math.max(1, found.length / maxStatements);
  const chosen = found.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step));
  return chosen.flatMap((statement) => {
    const shown = index
      .search({ query: statement.sentence.slice(0, 300), limit: passages })
      .map(({ path, title, headings, content }) => ({ path, text: [title, ...headings, content].join('\n') }));
    const fact = normalized(statement.fact);
    return shown.some(({ path, text }) => path === statement.path && normalized(text).includes(fact))
      ? [{ ...statement, shown }]
      : [];
  });
}

/** Returns the first fact of a kind, and where it begins; facts in prose only are not those of code. */
function factIn(sentence: string, kind: FactKind): { fact: string; at: number } | null {
  const isProse = kind !== 'code' && kind !== 'flag';
  const text = isProse ? sentence.replace(/`[^`]*`/g, (span) => '`'.repeat(span.length)) : sentence;
  for (const match of text.matchAll(facts[kind])) {
    const fact = match[1] ?? match[0];
    if (kind === 'identifier' && (!isIdentifier(fact) || /^\p{Lu}?[\p{Ll}-]+$/u.test(fact))) continue;
    if (kind === 'code' && fact.startsWith('-')) continue;
    return { fact, at: match.index + match[0].indexOf(fact) };
  }
  return null;
}

/** Returns a number of another passage of the same page, which the passages with the sentence do not have. */
function movedNumber({ path, sentence, shown }: Statement): string | null {
  const ofPage = shown.filter((passage) => passage.path === path).map(({ text }) => text.replaceAll(link, '$1'));
  const own = ofPage.filter((text) => text.includes(sentence));
  const numbers = ofPage.filter((text) => !own.includes(text)).flatMap((text) => text.match(facts.number) ?? []);
  return own.length === 0 ? null : (numbers.find((number) => !own.some((text) => statesFact(text, number))) ?? null);
}

function withFact({ sentence, fact, at }: Statement, other: string): string {
  return `${sentence.slice(0, at)}${other}${sentence.slice(at + fact.length)}`;
}

/** Returns a fact as a model might write it. */
function styledOf(fact: string, kind: FactKind): string {
  if (kind === 'identifier') return `\`${fact}\``;
  if (nameKinds.has(kind)) return `**${fact}**`;
  return kind === 'number' && /^\d{4,}$/.test(fact) ? Number(fact).toLocaleString('en') : fact;
}

/** Returns a sentence with its halves exchanged, at a space outside of code. */
function turned(sentence: string): string {
  const words = sentence.replace(/[.!?:]+$/, '').match(/(?:`[^`]*`|[^\s`])+/g) ?? [];
  const half = Math.ceil(words.length / 2);
  return [...words.slice(half), ...words.slice(0, half)].join(' ');
}

function joined(sentence: string, other: string): string {
  return `${sentence.replace(/[.!?:]+$/, '')} and ${other}`;
}

function alteredOf(fact: string, kind: FactKind): string {
  if (kind === 'number') return fact.replace(/\d+(?!.*\d)/, (digits) => String(Number(digits) + 1));
  if (kind === 'flag') return `${fact}-all`;
  return fact.replace(/\p{L}(?!.*\p{L})/u, (letter) => (letter === 'x' ? 'y' : 'x'));
}

function isMarked({ path, shown }: Statement, sentence: string): boolean {
  const sources = [{ id: 'src_1', path, url: '/page', title: path }];
  const cited = citationsOf(`${sentence.replace(/[.!?]*$/, '')} ([Page](/page)).`, {
    sources,
    shown,
    known: () => '',
    pathOf: (url) => (url === '/page' ? path : null),
    findPassages: () => [],
  });
  return [...cited].some(({ unsupported }) => unsupported.length > 0);
}
