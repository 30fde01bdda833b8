/** A passage of the documentation that is given with a question. */
export interface Passage {
  id: string;
  title: string;
  path: string;
  url: string;
  /** Headings from the page's top down to the passage. */
  headings: string[];
  content: string;
  /** 0 to 1, how well the passage covers the question. */
  score: number;
}

export interface GroundedQuestion {
  question: string;
  /** The query that the passages were found for; null if it was the question. */
  query: string | null;
  /** Best first. */
  passages: Passage[];
  /** If the best passage scores lower, the documentation does not answer the question. */
  weakScore: number;
}

/**
 * Renders a question with its passages for a prompt, so that a hosted model can read it and the offline model can parse
 * it exactly. No passage can imitate the markup, because tags inside passages are escaped.
 */
export function renderGroundedQuestion({ question, query, passages, weakScore }: GroundedQuestion): string {
  const rendered = passages.map(({ id, title, path, url, headings, content, score }) => {
    const attributes = Object.entries({
      id,
      title,
      path,
      url,
      headings: JSON.stringify(headings),
      score: String(score),
    });
    const list = attributes.map(([name, value]) => `${name}="${escapeAttribute(value)}"`).join(' ');
    return `<passage ${list}>\n${escapeTags(content)}\n</passage>\n`;
  });
  return [
    `<passages weak-score="${weakScore}"${query === null ? '' : ` query="${escapeAttribute(query)}"`}>\n${rendered.join('')}</passages>\n\n`,
    `<question>\n${escapeTags(question)}\n</question>`,
  ].join('');
}

/** Parses the output of `renderGroundedQuestion` anywhere in a text; null when there is none. */
export function parseGroundedQuestion(text: string): GroundedQuestion | null {
  const opening = /^<passages (weak-score=".*)>\n/mu.exec(text);
  if (opening === null) return null;
  const found = attributesOf(opening[1] ?? '');
  const passages: Passage[] = [];
  let at = opening.index + opening[0].length;
  for (;;) {
    passageTag.lastIndex = at;
    const tag = passageTag.exec(text);
    if (tag === null) break;
    const start = passageTag.lastIndex;
    const end = text.indexOf(passageEnd, start);
    if (end === -1) return null;
    passages.push(passageOf(attributesOf(tag[1] ?? ''), unescapeTags(text.slice(start, end))));
    at = end + passageEnd.length;
  }
  if (!text.startsWith(questionStart, at)) return null;
  const start = at + questionStart.length;
  const end = text.indexOf(questionEnd, start);
  if (end === -1) return null;
  const question = unescapeTags(text.slice(start, end));
  return { question, query: found.get('query') ?? null, passages, weakScore: numberOf(found.get('weak-score')) };
}

const passageTag = /<passage ([^\n]*)>\n/uy;
const passageEnd = '\n</passage>\n';
const questionStart = '</passages>\n\n<question>\n';
const questionEnd = '\n</question>';

const tagLike = /(?:<|&(?:amp;)*lt;)(?=\/?(?:passages?|question)\b)/giu;
const escapedTagLike = /&(?:amp;)*lt;(?=\/?(?:passages?|question)\b)/giu;

/** Turns `<passage` into `&lt;passage`. An escaped tag gets one more `amp;`, so that unescaping restores the text. */
function escapeTags(text: string): string {
  return text.replace(tagLike, (match) => (match === '<' ? '&lt;' : `&amp;${match.slice(1)}`));
}

function unescapeTags(text: string): string {
  return text.replace(escapedTagLike, (match) =>
    match.length === '&lt;'.length ? '<' : `&${match.slice('&amp;'.length)}`,
  );
}

const entities: Record<string, string> = { '&amp;': '&', '&quot;': '"', '&lt;': '<', '&gt;': '>' };
const entityOf = new Map(Object.entries(entities).map(([entity, character]) => [character, entity]));

function escapeAttribute(text: string): string {
  return text.replace(
    /[&"<>\n\r\u2028\u2029]/gu,
    (character) => entityOf.get(character) ?? `&#${character.charCodeAt(0)};`,
  );
}

function attributesOf(tag: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name = '', value = ''] of tag.matchAll(/(?<![a-z-])([a-z-]+)="([^"]*)"/gu)) {
    const unescaped = value.replace(/&(?:amp|quot|lt|gt|#\d{1,7});/gu, (entity) => {
      return entities[entity] ?? String.fromCodePoint(Number(entity.slice(2, -1)));
    });
    attributes.set(name, unescaped);
  }
  return attributes;
}

function passageOf(attributes: Map<string, string>, content: string): Passage {
  const text = (name: string) => attributes.get(name) ?? '';
  return {
    id: text('id'),
    title: text('title'),
    path: text('path'),
    url: text('url'),
    headings: headingsOf(text('headings')),
    content,
    score: numberOf(text('score')),
  };
}

function headingsOf(json: string): string[] {
  try {
    const headings: unknown = JSON.parse(json);
    return Array.isArray(headings) ? headings.map(String) : [];
  } catch {
    return [];
  }
}

function numberOf(text: string | undefined): number {
  const value = Number(text);
  return Number.isFinite(value) ? value : 0;
}
