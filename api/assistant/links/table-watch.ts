/**
 * A row of a table is cut at each `|`, in code too: what is code in a paragraph is none in a table. Watches the lines that are
 * written for the beginning of one, as generously as the most generous reader.
 */
export interface TableWatch {
  /** Whether the line that is being written may be a row, once these words are written, too. */
  mayBeRow(words: string): boolean;
  takeMarkup(text: string): void;
  /** Answers the words, with a line escaped that would make the line before it the head of a table. */
  takeWords(text: string): string;
  /** A blank line, or another block, ends a table. */
  reset(): void;
}

/** What of a line matters; its text may be long. */
interface LineShape {
  isBlank: boolean;
  /** Whether it holds nothing but the marks that part the head of a table from its rows. */
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

export function createTableWatch(): TableWatch {
  let state = start;
  return {
    mayBeRow: (words) => words.split('\n').reduce(withPart, state).isTable,
    takeMarkup(text) {
      const hasCodeWithBar = state.line.hasCodeWithBar || (text.startsWith('`') && text.includes('|'));
      state = { ...state, line: { ...withText(state.line, text), hasCodeWithBar } };
    },
    takeWords(text) {
      const parts = text.split('\n').map((part, index) => {
        if (index > 0) state = withLineEnd(state);
        const mustEscape = state.line.isBlank && state.before.hasCodeWithBar && /^\s*[|:-]/.test(part);
        state = { ...state, line: withText(state.line, part) };
        return mustEscape ? part.replace(/[|:-]/, String.raw`\$&`) : part;
      });
      return parts.join('\n');
    },
    reset() {
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
