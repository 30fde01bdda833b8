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
/** GitHub's Markdown makes links of these wherever they stand, in references and behind escapes too. */
const address = /(?:[a-z][a-z\d+.-]*:\/\/|www\.|mailto:|xmpp:)[^\s<>)\]"'`]*|[\w.+-]+@[\w-]+(?:\.[\w-]+)+/giu;
const endOfSentence = /[.,;:!?*_~|\\]+$/;
/** Some readers make links of bare names of hosts, too. */
const hosts = new LinkifyIt({ fuzzyLink: true, fuzzyIP: true, fuzzyEmail: true });

/**
 * Words of Markdown, written so that no reader takes them for a link, an image, HTML, code or a definition. Of the addresses in
 * them only those are left that lead somewhere.
 */
export function writeText(raw: string, options: TextOptions): string {
  if (!/[.:@/[\]()<&\\`~!|]/.test(raw)) return raw;
  const units = raw.match(unit) ?? [];
  const characters = units.map((one) => (one.length > 1 ? decodeString(one) : one));
  const decoded = characters.join('');
  /** The unit that holds a position of `decoded`. */
  const unitAt = characters.flatMap((character, index) => Array.from({ length: character.length }, () => index));
  unitAt.push(units.length);
  let text = '';
  let from = 0;
  function writeWords(until: number, next: string): void {
    const words = { units: units.slice(unitAt[from], unitAt[until]), breaks: hostBreaks(decoded.slice(from, until)) };
    text += writeUnits(words, { inLink: options.inLink, previous: text.at(-1) ?? options.previous, next });
    from = until;
  }
  for (const { 0: found, index } of decoded.matchAll(address)) {
    const whole = found.replace(endOfSentence, '') || found;
    if (/^[a-z][a-z\d+.-]*:\/*$/i.test(found)) continue;
    const before = decoded[index - 1] ?? options.previous;
    const after = units.slice(unitAt[index + whole.length]).join('') + options.next;
    const isNextToCode = before === '`' || after.startsWith('`');
    const written = writeAddress(whole, { ...options, isAlone: isAlone(before, after), isNextToCode });
    writeWords(index, written);
    text += written;
    from = index + whole.length;
  }
  writeWords(decoded.length, options.next);
  return text;
}

/** Whether every reader that makes a link of a bare address takes the same characters for it. */
function isAlone(before: string, after: string): boolean {
  return /^[\s([]?$/.test(before) && /^[.,!?)]*(?:\s|$)/.test(after);
}

function writeAddress(
  whole: string,
  { resolve, inLink, isAlone, isNextToCode }: TextOptions & { isAlone: boolean; isNextToCode: boolean },
): string {
  const asCode = isNextToCode ? removed : `\`${whole}\``;
  if (/^www$/i.test(whole)) return asCode;
  const isMail = /^[^:/]+@/.test(whole);
  const isHost = /^www\./i.test(whole);
  const targets = isMail ? [`mailto:${whole}`] : isHost ? [`https://${whole}`, `http://${whole}`] : [whole];
  const url = targets.map(resolve).find((known) => known !== null) ?? null;
  if (url === null) return isMail ? asCode : removed;
  const words = whole.replaceAll(/[*_~|]/g, String.raw`\$&`);
  if (inLink) return isAlone && words === writeUrl(whole) ? words : isMail ? asCode : removed;
  if (isMail || isHost) return `[${words}](${writeUrl(url)})`;
  return isAlone && url === whole && url === writeUrl(url) ? url : `<${writeUrl(url)}>`;
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

function writeUnits(
  { units, breaks }: { units: string[]; breaks: Set<number> },
  { inLink, previous, next }: Omit<TextOptions, 'resolve'>,
): string {
  const pairs = bracketPairs(units);
  let text = '';
  let position = 0;
  units.forEach((one, index) => {
    const before = text.at(-1) ?? previous;
    const after = units[index + 1] ?? next.slice(0, 1);
    const isBreak = breaks.has(position) || (one === '.' && isAfterWww(previous + text));
    position += one.length > 1 ? decodeString(one).length : one.length;
    text +=
      isBreak && one.length === 1 ? `\\${one}` : writeUnit(one, { before, after, inLink, isAlone: !pairs.has(index) });
  });
  return text;
}

/** Whether a text ends, or may end once what has left is counted, with what GitHub's Markdown takes for the beginning of a host. */
function isAfterWww(text: string): boolean {
  return /^w{1,3}$/i.test(text.slice(-3));
}

/** Opening brackets that are closed; to some readers any other one may begin a link that ends within code. */
function bracketPairs(units: string[]): Set<number> {
  const pairs = new Set<number>();
  const open: number[] = [];
  units.forEach((one, index) => {
    if (one === '[') open.push(index);
    const opened = one === ']' ? open.pop() : undefined;
    if (opened !== undefined) pairs.add(opened);
  });
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
