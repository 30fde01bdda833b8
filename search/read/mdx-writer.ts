/** Indentation of a line inside tags. */
interface Container {
  /** Column of its text in the Markdown: 0, or more when its tag is inside a list item. */
  indent: number;
  /** Column of its current list in the source; null outside a list. */
  list: number | null;
}

const maxIndent = 16;
const maxNesting = 200;
const listItem = /^(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;

/** Assembles the text of an MDX page without the indentation of nested tags; lists and code keep theirs. */
export function createMdxWriter() {
  const root: Container = { indent: 0, list: null };
  const open: { name: string; container: Container }[] = [];
  const lines: string[] = [];
  let line = '';
  let owner: Container | null = null;
  let indent = 0;
  let hasText = false;
  let hadTag = false;
  let afterTag = false;
  let afterBlank = true;
  let fence: { before: number; after: number; isKept: boolean } | null = null;

  const innermost = () => open.at(-1)?.container ?? root;

  /** Returns the indentation of an element that starts at `at` in the source. */
  function indentOf(container: Container, at: number): number {
    if (container.list === null || at <= container.list) return container.indent;
    return Math.min(maxIndent, container.indent + at - container.list);
  }

  function add(content: string): void {
    if (!hasText) {
      const blank = /^[ \t]*/.exec(content)?.[0].length ?? 0;
      indent += blank;
      hasText = blank < content.length;
      if (hasText) owner ??= innermost();
    }
    line += content;
  }

  function endLine(): void {
    const container = owner ?? innermost();
    const content = line.slice(indent);
    afterTag = content === '' && (hadTag || afterTag);
    if (!afterTag || lines.at(-1) !== '') lines.push(afterTag ? '' : indented(container, content));
    afterBlank = content === '';
    line = '';
    owner = null;
    indent = 0;
    hasText = false;
    hadTag = false;
  }

  function indented(container: Container, content: string): string {
    if (content === '') return container === root ? line : '';
    const isHeading = /^#{1,6}[ \t]/.test(content);
    if (isHeading) container.list = null;
    else if (listItem.test(content)) container.list ??= container === root ? 0 : indent;
    else if (afterBlank && container.list !== null && indent <= container.list) container.list = null;
    if (isHeading) return content;
    return container === root ? line : ' '.repeat(indentOf(container, indent)) + content;
  }

  function text(value: string): void {
    for (const [at, content] of value.split('\n').entries()) {
      if (at > 0) endLine();
      add(content);
    }
  }

  return {
    text,

    /** Writes a tag with what a reader sees of it. */
    tag({ name, kind, shown }: { name: string; kind: 'open' | 'close' | 'empty'; shown: string }): void {
      owner ??= innermost();
      hadTag = true;
      const container = owner;
      const inner = hasText
        ? innermost()
        : { indent: container === root && container.list === null ? 0 : indentOf(container, indent), list: null };
      if (shown !== '') text(shown);
      if (kind === 'open' && open.length < maxNesting) open.push({ name, container: inner });
      if (kind === 'close') {
        const at = open.findLastIndex((entry) => entry.name === name);
        if (at !== -1) open.length = at;
      }
    },

    /** Writes a line of a code block, including its fences. */
    code(value: string, isFence: boolean): void {
      const before = /^[ \t]*/.exec(value)?.[0].length ?? 0;
      const container = innermost();
      if (fence === null) {
        if (afterBlank && container.list !== null && before <= container.list) container.list = null;
        fence = { before, after: indentOf(container, before), isKept: container === root };
        lines.push(fence.isKept ? value : ' '.repeat(fence.after) + value.slice(before));
        return;
      }
      const { after, isKept } = fence;
      const content = value.slice(Math.min(before, fence.before));
      const moved = content === '' ? '' : ' '.repeat(after) + content;
      lines.push(isKept ? value : moved);
      if (isFence) fence = null;
      afterBlank = isFence;
    },

    /** Returns the whole text; the last line has no line break. */
    end(): string {
      if (line !== '') endLine();
      return lines.join('\n');
    },
  };
}
