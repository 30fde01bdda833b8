/** Writes blocks of code in fences that every reader opens and closes at the same lines. */
export interface FenceWriter {
  isOpen(): boolean;
  /** The line that opens a block, and the markers of the quotes and lists before it. */
  open(prefix: string, content: string): string;
  code(content: string): string;
  /** Code that is one by its indentation gets a fence. */
  indented(prefix: string, content: string): string;
  close(): string;
}

const opening = /^([ \t]*)(`{3,}|~{3,})[ \t]*([\w+#.-]{0,40})/;

export function createFenceWriter(): FenceWriter {
  /** What opened the block; empty outside of one. */
  let marks = '';
  let language = '';
  let prefix = '';
  let indentation = /^/;

  function start(markers: string): string {
    const first = `${markers}${marks}${language}\n`;
    // In the lines below, blanks stand for the marker of a list
    prefix = markers.replaceAll(/[^>\s]/g, ' ');
    return first;
  }

  function line(content: string): string {
    if (content.trim() === '') return `${prefix.trimEnd()}\n`;
    const end = new RegExp(`^[ \\t]*(${marks.charAt(0)}{${marks.length},})[\`~ \\t]*\\n?$`).exec(content)?.[1];
    if (end === undefined) return `${prefix}${content}`;
    // Some reader takes this line for the end, so that the rest goes into a longer fence
    const before = `${prefix}${marks}\n`;
    marks = `${end}${end.charAt(0)}`;
    return `${before}${start(prefix)}${prefix}${content}`;
  }

  return {
    isOpen: () => marks !== '',
    open(markers, content) {
      const [, blanks = '', found = '```', name = ''] = opening.exec(content) ?? [];
      marks = found;
      language = name;
      indentation = new RegExp(`^ {0,${blanks.length}}`);
      return start(markers);
    },
    code: (content) => line(content.replace(indentation, '')),
    indented(markers, content) {
      const isFirst = marks === '';
      if (isFirst) {
        marks = '```';
        language = '';
      }
      return (isFirst ? start(markers) : '') + line(content.replace(/^(?: {4}| {0,3}\t)/, ''));
    },
    close() {
      if (marks === '') return '';
      const last = `${prefix}${marks}\n`;
      marks = '';
      return last;
    },
  };
}
