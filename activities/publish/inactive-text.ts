import { withoutOrders } from './forge-orders.ts';

/** A line that git reads as a trailer. */
const trailer = /^(?=[a-z][a-z\d]*(?:-[a-z\d]+)+[ \t]*:)/gim;

/** Words of an agent for a title or a commit: they close no issue, tell nobody, skip no checks and are no trailer. */
export function inactiveWords(text: string): string {
  return withoutOrders(text.replaceAll(/\r\n?/g, '\n')).replace(trailer, '  ');
}

/**
 * Markdown of an agent for a description that others see: outside of code it closes no issue, tells nobody and holds no HTML, and a
 * block of code that it leaves open ends with it. Only what is code on every forge counts as code.
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
 * A line that begins with a slash and a word is an order to GitLab and to Prow (`/merge`, `/lgtm`). Prow reads code too, and GitLab does
 * not tell where code ends as Markdown does, so no line begins with one.
 */
export function withoutCommands(text: string): string {
  let fence: string | null = null;
  const lines = text.split(/\r\n?|\n/).map((line) => {
    const isCode: boolean = fence !== null;
    if (fence === null) fence = openedFence(line);
    else if (closesFence(line, fence)) fence = null;
    return line.replace(/^(\s*)\/(?=[a-z])/i, isCode ? ' $1/' : '$1\\/');
  });
  return lines.join('\n');
}

/** At the margin alone: an indented one may belong to a list and end with it. */
export function openedFence(line: string): string | null {
  const [, backticks, tildes] = /^(?:(`{3,})[^`]*|(~{3,}).*)$/.exec(line) ?? [];
  return backticks ?? tildes ?? null;
}

export function closesFence(line: string, fence: string): boolean {
  const [, mark = ''] = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line) ?? [];
  return mark.startsWith(fence);
}

const codeSpan = /(?<!`)(`+)(?!`)([^|]+?)(?<!`)\1(?!`)/g;

/** Code in a line is left as it is where each line closes what it opens; elsewhere all of it is taken for words. */
function inactiveProse(lines: string[]): string {
  const isClear = lines.every((line) => !line.replaceAll(codeSpan, '').includes('`') && !line.includes('\\`'));
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

/** An address in angle brackets stays a link; an image becomes one, because what it loads would tell its server about the reader. */
function withoutHtml(text: string): string {
  return withoutOrders(
    text
      .replaceAll(/&(?=#?\w+;)/g, '&amp;')
      .replaceAll(/<(?=[a-z/!?])(?!https?:\/\/[^\s<>`]+>)/gi, '&lt;')
      .replaceAll(/!(?=\[)/g, '&#33;'),
  );
}
