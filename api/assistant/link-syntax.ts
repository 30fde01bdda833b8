/** A link as it stands at the beginning of a text. */
export interface LinkPiece {
  /** How much of the text it takes. */
  length: number;
  /** Addresses it may mean; the first that is known counts. */
  targets: string[];
  /** What stays when no target is known. */
  words: string;
  write(url: string): string;
}

/** `null`: no link begins here. `unfinished`: the rest of the text decides. */
export type Reading = LinkPiece | 'unfinished' | null;

const longestLabel = 400;
const longestTarget = 1_000;
const longestTag = 500;
const longestInlineCode = 500;
const bareAddress = /^(?:https?:\/\/|www\.)[^\s<>)\]"'`]+/i;
const bareBeginning = /^(?:https?:\/\/|www\.)$/i;
const autolink = /^<([a-z][a-z0-9+.-]{1,31}:[^\s<>]*)>/i;
const addressAttribute =
  /[\s"'/](?:href|src|srcset|action|formaction|data|poster|background|cite|ping|style|on[a-z]+)\s*=/i;

/** `[words](target)`, `![words](target)`, and `[name]: target` where a line begins. */
export function readLink(text: string, { isLast, isLineStart }: { isLast: boolean; isLineStart: boolean }): Reading {
  const wordsStart = text.indexOf('[') + 1;
  const close = endOfWords(text, wordsStart);
  if (close === null) return null;
  if (close === 'unfinished') return isLast ? null : 'unfinished';
  const words = text.slice(wordsStart, close);
  if (text[close + 1] === ':' && isLineStart && !words.startsWith('^'))
    return readDefinition(text, close + 2, { words, isLast });
  if (text[close + 1] !== '(') return null;
  const target = readTarget(text, close + 2, isLast);
  if (target === null || target === 'unfinished') return target;
  return { length: target.end, targets: [target.address], words, write: (url) => `[${words}](${url})` };
}

/** The end of a link whose beginning was too long or too odd to wait for: `](target)`. */
export function readLinkEnd(text: string, isLast: boolean): Reading {
  const target = readTarget(text, 2, isLast);
  if (target === null || target === 'unfinished') return target;
  return { length: target.end, targets: [target.address], words: ']', write: (url) => `](${url})` };
}

/** `https://…` and `www.…` as they stand. */
export function readAddress(text: string, isLast: boolean): Reading {
  const found = bareAddress.exec(text.slice(0, longestTarget))?.[0];
  if (found === undefined) return !isLast && bareBeginning.test(text) ? 'unfinished' : null;
  if (found.length === text.length && !isLast && found.length < longestTarget) return 'unfinished';
  const address = found.replace(/[.,;:!?*_~]+$/, '');
  const isWhole = !/^www\./i.test(address);
  const targets = isWhole ? [address] : [`https://${address}`, `http://${address}`];
  return { length: address.length, targets, words: '(link removed)', write: (url) => (isWhole ? url : address) };
}

/** `<https://…>`, and HTML that leads somewhere: such a tag goes, the words in it stay. */
export function readTag(text: string, isLast: boolean): Reading {
  const link = autolink.exec(text);
  if (link !== null) {
    const [whole, address = ''] = link;
    return { length: whole.length, targets: [address], words: '(link removed)', write: (url) => `<${url}>` };
  }
  if (!/^<(?:$|\/?(?:$|[a-z]))/i.test(text)) return null;
  const window = text.slice(0, longestTag);
  const end = window.search(/>|\n\n/);
  if (end < 0 && window.length < longestTag) return isLast ? null : 'unfinished';
  const leads = addressAttribute.test(end < 0 ? window : window.slice(0, end));
  if (!leads) return null;
  const isTag = window[end] === '>';
  return { length: isTag ? end + 1 : 1, targets: [], words: isTag ? '' : '&lt;', write: () => '' };
}

/** Length of an inline code span, or of its backticks alone when they open none. */
export function readInlineCode(text: string, ticks: string, isLast: boolean): number | 'unfinished' {
  const window = text.slice(0, longestInlineCode);
  const paragraph = window.indexOf('\n\n');
  const within = paragraph < 0 ? window : window.slice(0, paragraph);
  const runs = /`+/g;
  runs.lastIndex = ticks.length;
  for (let run = runs.exec(within); run !== null; run = runs.exec(within)) {
    const end = run.index + run[0].length;
    if (end === text.length && !isLast) return 'unfinished';
    if (run[0].length === ticks.length) return end;
  }
  const isDecided = isLast || paragraph >= 0 || text.length >= longestInlineCode;
  return isDecided ? ticks.length : 'unfinished';
}

/** Position of the bracket that closes the words, once the character behind it is known too. */
function endOfWords(text: string, start: number): number | 'unfinished' | null {
  let depth = 0;
  for (let position = start; position < text.length; position += 1) {
    if (position - start > longestLabel) return null;
    const character = text[position];
    if (character === '\\') position += 1;
    else if (character === '\n' && text[position - 1] === '\n') return null;
    else if (character === '[') depth += 1;
    else if (character === ']') {
      if (position + 1 === text.length) return 'unfinished';
      if (depth === 0) return position;
      if (text[position + 1] === '(') return null;
      depth -= 1;
    }
  }
  return 'unfinished';
}

const targetForm =
  /^\s*(?:<([^<>\n]*)>|((?:[^\s()<>\\]|\\.|\((?:[^\s()\\]|\\.)*\))*))(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)/;
/** A target that can still become whole. */
const targetBeginning =
  /^\s*(?:<[^<>\n]*|(?:<[^<>\n]*>|(?:[^\s()<>\\]|\\.|\((?:[^\s()\\]|\\.)*\))*(?:\((?:[^\s()\\]|\\.)*)?\\?)(?:\s+(?:"[^"]*"?|'[^']*'?|\([^()]*\)?)?)?\s*)$/;

/** What stands in the parentheses of a link, from `start` on. One that is too long to wait for leads nowhere. */
function readTarget(
  text: string,
  start: number,
  isLast: boolean,
): { address: string; end: number } | 'unfinished' | null {
  const window = text.slice(start, start + longestTarget);
  const whole = targetForm.exec(window);
  if (whole !== null) return { address: whole[1] ?? whole[2] ?? '', end: start + whole[0].length };
  if (!targetBeginning.test(window)) return null;
  if (window.length === longestTarget) return { address: '', end: start };
  return isLast ? null : 'unfinished';
}

const definitionForm = /^[ \t]*<?([^\s<>]+)>?(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*$/;

function readDefinition(text: string, start: number, { words, isLast }: { words: string; isLast: boolean }): Reading {
  const window = text.slice(start, start + longestTarget);
  const lineEnd = window.indexOf('\n');
  if (lineEnd < 0 && !isLast && window.length < longestTarget) return 'unfinished';
  const line = lineEnd < 0 ? window : window.slice(0, lineEnd);
  const address = definitionForm.exec(line)?.[1];
  if (address === undefined) return null;
  return { length: start + line.length, targets: [address], words: '', write: (url) => `[${words}]: ${url}` };
}
