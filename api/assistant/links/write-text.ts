import { LinkifyIt } from 'linkify-it';
import { decodeString } from 'micromark-util-decode-string';

/** Where an address of an answer leads; null: nowhere, so that it does not leave. */
export type Resolve = (address: string) => string | null;

export interface TextOptions {
  resolve: Resolve;
  /** Whether the text is the words of a link, in which no other one may stand. */
  inLink: boolean;
  /** The characters that are written before and after it. */
  previous: string;
  next: string;
}

export const removed = '(link removed)';
/** One character as it is written: plain, escaped, or as a reference. */
const unit = /\\[!-/:-@[-`{-~]|&(?:#x[\da-f]{1,6}|#\d{1,7}|[a-z][a-z\d]*);|[\s\S]/giu;
/** Addresses that are written anew or removed. A reader that would find another one is stopped by gaps and escapes. */
const address = /(?:[a-z][a-z\d+.-]*:\/\/|www\.|mailto:|xmpp:)[^\s<>)\]"'`]*|[\w.+-]+@[\w-]+(?:\.[\w-]+)+/giu;
const noAddress = /^(?:www|[a-z][a-z\d+.-]*:\/*)$/i;
const endOfSentence = /[.,;:!?*_~|\\]+$/;
/** GitHub's Markdown makes a link of a bare address only where one of these stands, be it in references or behind escapes. */
const linkSign = /(?<=www)(?=\.)|(?<=:)(?=\/\/\S)|(?=@[\w-]+\.)/gi;
/** Parts such a sign; nothing is seen of it. */
const gap = { raw: '\u200b', shown: '\u200b' };
/** Some readers make links of bare names of hosts, too. */
const hosts = new LinkifyIt({ fuzzyLink: true, fuzzyIP: true, fuzzyEmail: true });

/** A stretch of a text as it is written, and what a reader sees of it. */
interface Unit {
  raw: string;
  shown: string;
  /** Whether it leaves as it is; to what stands beside it, it is a blank. */
  isMarkup?: boolean;
}

/**
 * Words of Markdown, written so that no reader takes them for a link, an image, HTML, code or a definition. Of the addresses in
 * them only those are left that lead somewhere.
 */
export function writeText(raw: string, options: TextOptions): string {
  if (!/[.:@/[\]()<&\\`~!|]/.test(raw)) return raw;
  const units = (raw.match(unit) ?? []).map((one) => ({ raw: one, shown: one.length > 1 ? decodeString(one) : one }));
  return writeUnits(withGaps(withAddresses(units, options)), options);
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
/** The unit that holds each position of what is shown. */
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
  // Every reader that makes a link of a bare address takes the same characters for it
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

/** An address as every reader reads it, in brackets of both kinds. */
export function writeUrl(url: string): string {
  return url
    .replaceAll(/[^\w\-.~:/?#@!$&+,;=%]+/g, (characters) => encodeURIComponent(characters.toWellFormed()))
    .replaceAll(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll(/&(?=#?\w+;)/g, '&amp;');
}

/** Positions whose characters must be escaped so that no part of a text reads as the name of a host. */
function hostBreaks(decoded: string): Set<number> {
  const breaks = new Set<number>();
  if (!/[.@]|\/\//.test(decoded)) return breaks;
  // A reader may see words apart that are divided by marks
  const runs = decoded.matchAll(/[\p{L}\p{N}\p{M}.@:/-]+/gu);
  for (const [run, start] of [
    [decoded, 0] as const,
    ...Array.from(runs, ({ 0: run, index }) => [run, index] as const),
  ]) {
    for (const { index, lastIndex } of hosts.match(run) ?? []) {
      for (let at = index; at < lastIndex; at += 1) if (/[.@/:]/.test(run.charAt(at))) breaks.add(start + at);
    }
  }
  return breaks;
}

function writeUnits(units: Unit[], { inLink, previous, next }: TextOptions): string {
  const pairs = bracketPairs(units);
  const breaks = hostBreaks(shownOf(units));
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

/** Opening brackets that are closed; to some readers any other one may begin a link that ends within code. */
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

const foreign = /[^\x00-\x7f]/; // eslint-disable-line no-control-regex

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
      // A part of the host's name may have left already
      return foreign.test(before) || foreign.test(after) ? '\\.' : one;
    default:
      return one;
  }
}
