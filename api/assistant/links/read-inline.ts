import type { PhrasingContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';

/** A part of a paragraph, by its position in it. */
export type Segment = { start: number; end: number } & (
  | { kind: 'words' }
  /** HTML, which is not sent. */
  | { kind: 'markup' }
  | { kind: 'code'; code: string }
  /** The alternative text of an image. */
  | { kind: 'caption'; words: string }
  | { kind: 'link'; url: string; isBare: boolean; words: Segment[] }
  | { kind: 'definition'; url: string; label: string }
);

/** Disabled constructs. Blocks are read line by line, and emphasis contains no address. */
const blocks = ['blockQuote', 'codeFenced', 'codeIndented', 'headingAtx', 'htmlFlow', 'list', 'setextUnderline'];
const disabled = ['attention', 'thematicBreak', ...blocks];

/**
 * Parses the text of a paragraph as CommonMark into contiguous segments.
 * @param mayDefine whether link definitions are allowed at its start
 */
export function readInline(text: string, { mayDefine }: { mayDefine: boolean }): Segment[] {
  return readPlain(text) ?? parseInline(text, mayDefine);
}

/** Words, code and links without anything in them that could mean something else. */
const plain =
  /(?<words>(?:[^`[\]<\\!]|!(?!\[))+)|`(?<code>[^`\s](?:[^`\n\t]*[^`\s])?)`(?!`)|\[(?<label>[^`[\]<\\!&\s](?:[^`[\]<\\!&\n\t]*[^`[\]<\\!&\s])?)\]\((?<url>[\w./#?=%:@,+~-]+)\)/y;
/** The start of code or a link that has not ended. */
const open = /[`[][^`[\]<\\]*$/y;

/** Reads what most answers consist of without the parser, which costs most of a stream; null for any other text. */
function readPlain(text: string): Segment[] | null {
  const segments: Segment[] = [];
  for (let start = 0; start < text.length;) {
    plain.lastIndex = start;
    open.lastIndex = start;
    const found = plain.exec(text)?.groups;
    if (found === undefined && !open.test(text)) return null;
    const end = found === undefined ? text.length : plain.lastIndex;
    const { code, label, url } = found ?? {};
    const last = segments.at(-1);
    if (code !== undefined) segments.push({ kind: 'code', start, end, code });
    else if (label !== undefined && url !== undefined) {
      const words: Segment[] = [{ kind: 'words', start: start + 1, end: start + 1 + label.length }];
      segments.push({ kind: 'link', start, end, url, isBare: false, words });
    } else if (last?.kind === 'words') last.end = end;
    else segments.push({ kind: 'words', start, end });
    start = end;
  }
  return segments;
}

/** Parses any text, as `readInline` does. */
export function parseInline(text: string, mayDefine: boolean): Segment[] {
  const root = fromMarkdown(text, {
    extensions: [{ disable: { null: mayDefine ? disabled : [...disabled, 'definition'] } }],
  });
  const segments: Segment[] = [];
  for (const node of root.children) {
    const at = { start: node.position?.start.offset ?? 0, end: node.position?.end.offset ?? 0 };
    if (node.type === 'definition')
      segments.push({ ...at, kind: 'definition', url: node.url, label: node.label ?? '' });
    if (node.type === 'paragraph') segments.push(...node.children.flatMap((child) => segmentsOf(child, text)));
  }
  return withWordsBetween(segments, { start: 0, end: text.length });
}

function segmentsOf(node: PhrasingContent, text: string): Segment[] {
  const start = node.position?.start.offset ?? 0;
  const end = node.position?.end.offset ?? 0;
  switch (node.type) {
    case 'inlineCode':
      return [{ kind: 'code', start, end, code: node.value }];
    case 'html':
      return [{ kind: 'markup', start, end }];
    case 'image':
      return [
        {
          kind: 'link',
          start,
          end,
          url: node.url,
          isBare: false,
          words: [{ kind: 'caption', start, end, words: node.alt ?? '' }],
        },
      ];
    case 'link': {
      const first = node.children[0]?.position?.start.offset ?? start + 1;
      const last = node.children.at(-1)?.position?.end.offset ?? first;
      const words = withWordsBetween(
        node.children.flatMap((child) => segmentsOf(child, text)),
        { start: first, end: last },
      );
      return [{ kind: 'link', start, end, url: node.url, isBare: text[start] === '<', words }];
    }
    default:
      return [];
  }
}

function withWordsBetween(segments: Segment[], { start, end }: { start: number; end: number }): Segment[] {
  const whole: Segment[] = [];
  let from = start;
  for (const segment of segments) {
    if (segment.start > from) whole.push({ kind: 'words', start: from, end: segment.start });
    whole.push(segment);
    from = segment.end;
  }
  if (from < end) whole.push({ kind: 'words', start: from, end });
  return whole;
}
