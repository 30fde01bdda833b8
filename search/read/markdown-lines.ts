export interface MarkdownLine {
  start: number;
  /** End of the line's text, before its line break. */
  end: number;
  kind: 'text' | 'blank' | 'code' | 'fence' | 'heading';
  /** Level of a heading, otherwise 0. */
  level: number;
}

const fence = /^[ \t]*(?:>[ \t]?)?(`{3,}|~{3,})(.*)$/s;
const heading = /^ {0,3}(#{1,6})(?:[ \t]|$)/;

/** Yields the lines of a Markdown text; lines inside code fences are `code`. */
export function* linesOf(text: string): Generator<MarkdownLine> {
  let open: string | null = null;
  let start = 0;
  while (start <= text.length) {
    const found = text.indexOf('\n', start);
    const next = found === -1 ? text.length : found;
    const end = text[next - 1] === '\r' && next > start ? next - 1 : next;
    const line = text.slice(start, Math.min(end, start + 400));
    const mark = fence.exec(line);
    if (open !== null) {
      const closes = mark !== null && isClosing(open, mark);
      yield { start, end, kind: closes ? 'fence' : 'code', level: 0 };
      if (closes) open = null;
    } else if (mark !== null && !(mark[1]?.startsWith('`') && mark[2]?.includes('`'))) {
      open = mark[1] ?? null;
      yield { start, end, kind: 'fence', level: 0 };
    } else {
      const level = heading.exec(line)?.[1]?.length ?? 0;
      yield {
        start,
        end,
        kind: level > 0 ? 'heading' : line.trim() === '' && line.length < 400 ? 'blank' : 'text',
        level,
      };
    }
    start = next + 1;
  }
}

/** Changes the parts of a Markdown text that are neither in a code fence nor in inline code. */
export function changeProse(text: string, change: (prose: string) => string): string {
  let changed = '';
  let at = 0;
  for (const { start, end, kind } of linesOf(text)) {
    const line = text.slice(start, end);
    changed += text.slice(at, start) + (kind === 'code' || kind === 'fence' ? line : changeOutsideSpans(line, change));
    at = end;
  }
  return changed + text.slice(at);
}

/** Inline code ends with as many backticks as it starts with; unmatched backticks are text. */
function changeOutsideSpans(line: string, change: (prose: string) => string): string {
  const parts = line.split(/(`+)/);
  const lastOf = new Map(parts.map((part, at) => [part, at]));
  let changed = '';
  let prose = '';
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] ?? '';
    if (at % 2 === 0 || lastOf.get(part) === at) {
      prose += part;
      continue;
    }
    const close = parts.indexOf(part, at + 1);
    changed += change(prose) + parts.slice(at, close + 1).join('');
    prose = '';
    at = close;
  }
  return changed + change(prose);
}

function isClosing(open: string, mark: RegExpExecArray): boolean {
  return mark[1]?.[0] === open[0] && (mark[1]?.length ?? 0) >= open.length && (mark[2] ?? '').trim() === '';
}

/** Returns the words of a heading line, without markup, links and an explicit id. */
export function headingText(line: string): string {
  return plainText(
    line
      .slice(0, 400)
      .replace(/^ {0,3}#{1,6}/, '')
      .replace(/[ \t]#+[ \t]*$/, '')
      .replace(/\{#[^{}]*\}\s*$/, ''),
  ).trim();
}

/** Returns the explicit id of a heading (`## Title {#id}`), null when it has none. */
export function explicitId(line: string): string | null {
  return /\{#([^{}\s]{1,200})\}\s*$/.exec(line.slice(-250))?.[1] ?? null;
}

/** Returns a short Markdown passage as text: without link targets, images, tags, emphasis and escapes. */
export function plainText(text: string): string {
  return text
    .replace(/!\[([^[\]]{0,300})\]\([^()\s]{0,500}\)/g, ' $1 ')
    .replace(/\]\([^()\s]{0,500}(?: "[^"]{0,200}")?\)/g, '] ')
    .replace(/(?<!\\)<\/?[A-Za-z][^<>]{0,300}>/g, ' ')
    .replace(/(?<!\\)&(?:nbsp|amp|lt|gt|quot|#\d{1,5});/g, ' ')
    .replace(/\*\*|__(?=\s|$)|(?<=^|\s)__|(?<!\\)[`[\]]/g, '')
    .replace(/\\([!-/:-@[-`{-~])/g, '$1');
}
