import { withoutOrders } from './forge-orders.ts';

/** Start of a line that git reads as a trailer. */
const trailer = /^(?=[a-z][a-z\d]*(?:-[a-z\d]+)+[ \t]*:)/gim;

/**
 * Neutralizes an agent's text for a title or commit: it closes no issue, notifies no one, skips no checks and is no
 * trailer.
 */
export function inactiveWords(text: string): string {
  return withoutOrders(text.replaceAll(/\r\n?/g, '\n')).replace(trailer, '  ');
}

/**
 * Neutralizes an agent's Markdown for a public description. Outside of code it closes no issue, notifies no one and
 * contains no HTML. A code block that it leaves open is closed at its end. Only what every forge treats as code counts
 * as code.
 */
export function inactiveMarkdown(text: string): string {
  const done: string[] = [];
  let prose: string[] = [];
  let fence: string | null = null;
  const endProse = () => {
    if (prose.length > 0) done.push(inactiveProse(prose));
    prose = [];
  };
  for (const line of text.split(/\r\n?|\n/)) {
    if (fence !== null) {
      done.push(line);
      if (closesFence(line, fence)) fence = null;
      continue;
    }
    fence = openedFence(line);
    if (fence === null) {
      prose.push(line);
      continue;
    }
    endProse();
    done.push(line);
  }
  endProse();
  if (fence !== null) done.push(fence);
  return done.join('\n').replaceAll('<!--', '&lt;!--');
}

/**
 * Neutralizes slash commands. GitLab and Prow act on a line that starts with a slash and a word (`/merge`, `/lgtm`).
 * Prow also reads code, and GitLab does not delimit code as Markdown does, so no line may start with one.
 */
export function withoutCommands(text: string): string {
  let fence: string | null = null;
  const lines = text.split(/\r\n?|\n/).map((line) => {
    const isCode: boolean = fence !== null;
    fence = fenceAfter(line, fence);
    return line.replace(/^(\s*)\/(?=[a-z])/iu, isCode ? ' $1/' : '$1\\/');
  });
  return lines.join('\n');
}

/**
 * Cuts Markdown to the whole lines that fit into `maxLength` characters, and closes the code block that it cuts. Inline
 * code of inactive text ends in its line, so what was code stays code.
 */
export function cutMarkdown(text: string, maxLength: number): string {
  const kept: string[] = [];
  let length = 0;
  let fence: string | null = null;
  for (const line of text.split('\n')) {
    const next = fenceAfter(line, fence);
    length += line.length + 1;
    if (length + (next?.length ?? 0) > maxLength) break;
    kept.push(line);
    fence = next;
  }
  return [...kept, ...(fence === null ? [] : [fence])].join('\n');
}

/** Returns the fence of the code block that is open after a line; `fence` is the one that is open before it. */
function fenceAfter(line: string, fence: string | null): string | null {
  if (fence === null) return openedFence(line);
  return closesFence(line, fence) ? null : fence;
}

/** Matches only at the margin: an indented fence may belong to a list and end with it. */
function openedFence(line: string): string | null {
  const [, backticks, tildes] = /^(?:(`{3,})[^`]*|(~{3,}).*)$/s.exec(line) ?? [];
  return backticks ?? tildes ?? null;
}

function closesFence(line: string, fence: string): boolean {
  const [, mark = ''] = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line) ?? [];
  return mark.startsWith(fence);
}

const codeSpan = /(?<!`)(`+)(?!`)([^|]+?)(?<!`)\1(?!`)/g;

/** Leaves inline code unchanged if each line closes what it opens; otherwise treats everything as prose. */
function inactiveProse(lines: string[]): string {
  const isClear = lines.every(
    (line) => !line.replaceAll(codeSpan, '').includes('`') && !line.includes('\\`') && !hasCodeInAddress(line),
  );
  if (!isClear) return withoutHtml(lines.join('\n'));
  let prose = '';
  let from = 0;
  const text = lines.join('\n');
  for (const { 0: code, index } of text.matchAll(codeSpan)) {
    prose += withoutHtml(text.slice(from, index)) + code;
    from = index + code.length;
  }
  return prose + withoutHtml(text.slice(from));
}

/** Reports whether code follows an address without a space: forges take the backticks for a part of the address. */
function hasCodeInAddress(line: string): boolean {
  const words = line.replaceAll(codeSpan, '`').split(/[\s<]/);
  return words.some((word) => /(?:\/\/|www\.)/i.test(word.slice(0, word.lastIndexOf('`') + 1)));
}

/**
 * Keeps an address in angle brackets as a link. Turns images into links, because loading one would expose the reader to
 * its server.
 */
function withoutHtml(text: string): string {
  return withoutOrders(
    text
      .replaceAll(/&(?=#?\w+;)/g, '&amp;')
      .replaceAll(/<(?=[a-z/!?])(?!https?:\/\/[^\s<>`]+>)/gi, '&lt;')
      .replaceAll(/!(?=\[)/g, '&#33;'),
  );
}
