/** Relevant properties of a line, stored instead of its text, which may be long. */
interface LineShape {
  isBlank: boolean;
  /** Whether it contains only the characters of the rule between a table's head and its rows. */
  isRule: boolean;
  hasCodeWithBar: boolean;
}

interface State {
  line: LineShape;
  before: LineShape;
  isTable: boolean;
}

const blank: LineShape = { isBlank: true, isRule: true, hasCodeWithBar: false };
const start: State = { line: blank, before: blank, isTable: false };

/**
 * Watches the written lines for the start of a table, as leniently as the most lenient Markdown reader. A table row is
 * split at every `|`, even inside code, so code in a paragraph may not be code in a table.
 */
export function createTableWatch() {
  let state = start;
  return {
    /** Reports whether the current line may be a table row once these words are written. */
    mayBeRow: (words: string): boolean => words.split('\n').reduce(withPart, state).isTable,
    takeMarkup(text: string): void {
      const hasCodeWithBar = state.line.hasCodeWithBar || (text.startsWith('`') && text.includes('|'));
      state = { ...state, line: { ...withText(state.line, text), hasCodeWithBar } };
    },
    /** Returns the words, escaping a line that could turn the line before it into the head of a table. */
    takeWords(text: string): string {
      // once a line has words, further words change nothing
      if (!state.line.isBlank && !state.line.isRule && !text.includes('\n')) return text;
      const parts = text.split('\n').map((part, index) => {
        if (index > 0) state = withLineEnd(state);
        const mustEscape = state.line.isBlank && state.before.hasCodeWithBar && /^\s*[|:-]/.test(part);
        state = { ...state, line: withText(state.line, part) };
        return mustEscape ? part.replace(/[|:-]/, String.raw`\$&`) : part;
      });
      return parts.join('\n');
    },
    /** Ends any table, as a blank line or another block does. */
    reset(): void {
      state = start;
    },
  };
}

function withText(line: LineShape, text: string): LineShape {
  return {
    ...line,
    isBlank: line.isBlank && text.trim() === '',
    isRule: line.isRule && /^[\s|:-]*$/.test(text),
  };
}

function withPart(state: State, part: string, index: number): State {
  const ended = index > 0 ? withLineEnd(state) : state;
  return { ...ended, line: withText(ended.line, part) };
}

function withLineEnd({ line, isTable }: State): State {
  return { line: blank, before: line, isTable: isTable || (line.isRule && !line.isBlank) };
}
