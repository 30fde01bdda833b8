import { LinkifyIt } from 'linkify-it';
import { decodeString } from 'micromark-util-decode-string';

/** Returns the URL to write for an address in an answer, or null for an unknown one, which is not sent. */
export type Resolve = (address: string) => string | null;

export interface TextOptions {
  resolve: Resolve;
  /** Whether the text is inside a link, which must not contain another one. */
  inLink: boolean;
  /** Text written immediately before and after it. */
  previous: string;
  next: string;
}

export const removed = '(link removed)';
/** One character as written in Markdown: plain, escaped, or as a character reference. */
const unit = /\\[!-/:-@[-`{-~]|&(?:#x[\da-f]{1,6}|#\d{1,7}|[a-z][a-z\d]*);|[\s\S]/giu;
/** Addresses that are rewritten or removed. Gaps and escapes keep Markdown readers from finding any others. */
const address =
  /(?:[a-z][a-z\d+.-]{0,31}:\/\/|www\.|mailto:|xmpp:)[^\s<>)\]"'`]*|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/giu;
const noAddress = /^(?:www|[a-z][a-z\d+.-]*:\/*)$/i;
const endOfSentence = /(?<![.,;:!?*_~|\\])[.,;:!?*_~|\\]+$/;
/** Positions required for an autolink in GitHub's Markdown, even if characters are written as references or escapes. */
const linkSign = /(?<=www)(?=\.)|(?<=:)(?=\/\/\S)|(?=@[\w-]+\.)/gi;
/** Characters that may have to be rewritten in the text of a link. */
const special = /[.:@/[\]()<&\\`~!|]/;
/** Text that may have to be rewritten outside of links. A period or a colon before a space is not, nor an `@` after one. */
const suspicious =
  /(?<![ \n\t]|^)@|@[\w-]+\.|[[\]<&\\`~]|\/\/|!$|:(?![ \n\t])|(?:mailto|xmpp):|\.(?![ \n\t]|$)|(?<=\P{ASCII}|www)\./iu;
/** Invisible character that breaks an autolink. */
const gap = { raw: '\u200b', shown: '\u200b' };
const foreign = /\P{ASCII}/u;
const afterForeign = /(?<=\P{ASCII})[\x21-\x7e]+/gu;
/** Detects host names, because some Markdown readers also autolink bare ones. */
const hosts = new LinkifyIt({ fuzzyLink: true, fuzzyIP: true, fuzzyEmail: true });

/** A span of text as written in Markdown, and as displayed. */
interface Unit {
  raw: string;
  shown: string;
  /** Whether it is sent unchanged. To the characters next to it, it counts as a space. */
  isMarkup?: boolean;
}

/**
 * Rewrites Markdown text so that no Markdown reader takes any of it for a link, an image, HTML, code or a definition.
 * Only addresses that resolve are left as links.
 */
export function writeText(raw: string, options: TextOptions): string {
  if (options.inLink ? !special.test(raw) : !suspicious.test(raw) && !continuesText(raw, options.previous)) return raw;
  const units = (raw.match(unit) ?? []).map((one) => ({ raw: one, shown: one.length > 1 ? decodeString(one) : one }));
  return writeUnits(withGaps(withAddresses(units, options)), options);
}

/** Reports whether the text before makes the first character mean something else. */
function continuesText(raw: string, previous: string): boolean {
  if (raw.startsWith('@')) return /[^ \n\t]/.test(previous);
  return (previous === ']' || foreign.test(previous)) && /^[(:.]/.test(raw);
}

function withAddresses(units: Unit[], options: TextOptions): Unit[] {
  const shown = shownOf(units);
  const unitAt = positionsOf(units);
  const written: Unit[] = [];
  let from = 0;
  for (const { 0: found, index } of shown.matchAll(address)) {
    const whole = found.replace(endOfSentence, '') || found;
    if (noAddress.test(whole)) continue;
    const end = unitAt[index + whole.length] ?? units.length;
    const before = shown[index - 1] ?? options.previous;
    const after = rawOf(units.slice(end)) + options.next;
    written.push(...units.slice(from, unitAt[index]), ...writeAddress(whole, { ...options, before, after }));
    from = end;
  }
  return [...written, ...units.slice(from)];
}

function withGaps(units: Unit[]): Unit[] {
  const unitAt = positionsOf(units);
  const gaps = new Set(Array.from(shownOf(units).matchAll(linkSign), ({ index }) => unitAt[index]));
  return gaps.size === 0 ? units : units.flatMap((one, index) => (gaps.has(index) ? [gap, one] : [one]));
}

const rawOf = (units: Unit[]) => units.map(({ raw }) => raw).join('');
const shownOf = (units: Unit[]) => units.map(({ shown }) => shown).join('');
/** Maps each position in the displayed text to the index of its unit. */
const positionsOf = (units: Unit[]) => units.flatMap(({ shown }, index) => Array<number>(shown.length).fill(index));
const asWords = (words: string): Unit[] => Array.from(words, (one) => ({ raw: one, shown: one }));
const asMarkup = (raw: string): Unit[] => [{ raw, shown: ' ', isMarkup: true }];

function writeAddress(
  whole: string,
  { resolve, inLink, before, after }: TextOptions & { before: string; after: string },
): Unit[] {
  const isMail = /^[^:/]+@/.test(whole);
  const isHost = /^www\./i.test(whole);
  const targets = isMail ? [`mailto:${whole}`] : isHost ? [`https://${whole}`, `http://${whole}`] : [whole];
  const url = targets.map(resolve).find((known) => known !== null) ?? null;
  // in this context, all Markdown readers that autolink agree on the characters of the address
  const isAlone = /^[\s([]?$/.test(before) && /^[.,!?)]*(?:\s|$)/.test(after);
  if (url === null || (inLink && !isAlone)) {
    const isNextToCode = before === '`' || after.startsWith('`');
    return isMail && !isNextToCode ? asMarkup(`\`${whole}\``) : asWords(removed);
  }
  const words = whole.replaceAll(/[*_~|]/g, String.raw`\$&`);
  if (inLink) return words === writeUrl(whole) ? asMarkup(words) : asWords(removed);
  if (isMail || isHost) return asMarkup(`[${words}](${writeUrl(url)})`);
  return asMarkup(isAlone && url === whole && url === writeUrl(url) ? url : `<${writeUrl(url)}>`);
}

/** Encodes a URL so that every Markdown reader reads it alike, in parentheses and in angle brackets. */
export function writeUrl(url: string): string {
  return url
    .replaceAll(/[^\w\-.~:/?#@!$&+,;=%]+/g, (characters) => encodeURIComponent(characters.toWellFormed()))
    .replaceAll(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll(/&(?=#?\w+;)/g, '&amp;');
}

/** Returns the positions to escape so that no part of a text, or of `previous` and the text, is read as a host name. */
function hostBreaks(units: Unit[], previous: string): Set<number> {
  const decoded = shownOf(units);
  const breaks = new Set<number>();
  if (!/[.@]|\/\//.test(decoded)) return breaks;
  // some readers treat words separated by punctuation as separate
  const runs: (readonly [string, number])[] = Array.from(
    decoded.matchAll(/[\p{L}\p{N}\p{M}.@:/-]+/gu),
    ({ 0: run, index }) => [run, index],
  );
  // text is sent up to a character outside ASCII, so a name may begin with one that has been sent
  const before = foreign.test(previous) ? previous.slice(-1) : '';
  for (const { 0: run, index } of (before + decoded).matchAll(afterForeign))
    runs.push([`a${run}`, index - before.length - 1]);
  for (const [run, start] of [[decoded, 0] as const, ...runs]) addBreaks(breaks, run, start);
  // to some readers, a text ends at an escape or a reference, and so does a host name
  const masked = units.map(({ raw, shown }) => (raw.length > 1 ? ' '.repeat(shown.length) : shown)).join('');
  for (let found = -1; found < breaks.size;) {
    found = breaks.size;
    addBreaks(
      breaks,
      masked.replaceAll(/[.@/:]/g, (sign, at: number) => (breaks.has(at) ? ' ' : sign)),
      0,
    );
  }
  return breaks;
}

/** Adds the positions of the signs in what a reader takes for a host name. */
function addBreaks(breaks: Set<number>, text: string, start: number): void {
  for (const { index, lastIndex } of hosts.match(text) ?? [])
    for (let at = index; at < lastIndex; at += 1) if (/[.@/:]/.test(text.charAt(at))) breaks.add(start + at);
}

function writeUnits(units: Unit[], { inLink, previous, next }: TextOptions): string {
  const pairs = bracketPairs(units);
  const breaks = hostBreaks(units, previous);
  let text = '';
  let position = 0;
  for (const [index, { raw, shown, isMarkup = false }] of units.entries()) {
    const before = text.at(-1) ?? previous;
    const after = (units[index + 1]?.raw ?? next).charAt(0);
    const isBreak = breaks.has(position) && raw.length === 1;
    position += shown.length;
    if (isMarkup) text += raw;
    else text += isBreak ? `\\${raw}` : writeUnit(raw, { before, after, inLink, isAlone: !pairs.has(index) });
  }
  return text;
}

/**
 * Returns the opening brackets that are closed. In some readers, an unclosed one may start a link that ends in code.
 */
function bracketPairs(units: Unit[]): Set<number> {
  const pairs = new Set<number>();
  const open: number[] = [];
  for (const [index, { raw }] of units.entries()) {
    if (raw === '[') open.push(index);
    const opened = raw === ']' ? open.pop() : undefined;
    if (opened !== undefined) pairs.add(opened);
  }
  return pairs;
}

function writeUnit(
  one: string,
  { before, after, inLink, isAlone }: { before: string; after: string; inLink: boolean; isAlone: boolean },
): string {
  switch (one) {
    case '<':
    case '\\<':
      return /^[a-z/!?\\&<]/i.test(after) ? '&lt;' : '<';
    case '`':
      return '\\`';
    case '~':
      return before === '~' || after === '~' ? '\\~' : one;
    case '(':
    case ':':
      return before === ']' ? `\\${one}` : one;
    case '!':
      return after === '[' ? '\\!' : one;
    case '[':
    case '\\[':
      return inLink ? '&#91;' : isAlone ? '\\[' : one;
    case ']':
    case '\\]':
      return inLink ? '&#93;' : one;
    case '|':
      return inLink ? '\\|' : one;
    case '\\':
      return after === '\n' ? one : '\\\\';
    case '.':
      // part of the host name may already have been sent
      return foreign.test(before) || foreign.test(after) ? '\\.' : one;
    default:
      return one;
  }
}
