const opening = /^([ \t]*)(`{3,}|~{3,})[ \t]*([\w+#.-]{0,40})/;

/** Writes code blocks with fences that every Markdown reader opens and closes at the same lines. */
export function createFenceWriter() {
  /** Opening fence of the current block; empty outside a block. */
  let marks = '';
  let language = '';
  let prefix = '';
  let indentation = /^/;

  function start(markers: string): string {
    const first = `${markers}${marks}${language}\n`;
    // in the following lines, spaces replace the list marker
    prefix = markers.replaceAll(/[^>\s]/g, ' ');
    return first;
  }

  function line(content: string): string {
    if (content.trim() === '') return `${prefix.trimEnd()}\n`;
    const end = new RegExp(`^[ \\t]*(${marks.charAt(0)}{${marks.length},})[\`~ \\t]*\\n?$`).exec(content)?.[1];
    if (end === undefined) return `${prefix}${content}`;
    // some readers take this line for the closing fence, so the rest goes into a new block with a longer fence
    const before = `${prefix}${marks}\n`;
    marks = `${end}${end.charAt(0)}`;
    return `${before}${start(prefix)}${prefix}${content}`;
  }

  return {
    isOpen: (): boolean => marks !== '',
    /** Opens a block. `prefix` contains the markers of the enclosing quotes and lists, `content` the opening line. */
    open(markers: string, content: string): string {
      const [, blanks = '', found = '```', name = ''] = opening.exec(content) ?? [];
      marks = found;
      language = name;
      indentation = new RegExp(`^ {0,${blanks.length}}`);
      return start(markers);
    },
    code: (content: string): string => line(content.replace(indentation, '')),
    /** Writes a line of an indented code block, with a fence around the block. */
    indented(markers: string, content: string): string {
      const isFirst = marks === '';
      if (isFirst) {
        marks = '```';
        language = '';
      }
      return (isFirst ? start(markers) : '') + line(content.replace(/^(?: {4}| {0,3}\t)/, ''));
    },
    close(): string {
      if (marks === '') return '';
      const last = `${prefix}${marks}\n`;
      marks = '';
      return last;
    },
  };
}
