import { parse, preprocess } from 'micromark';
import type { Token, TokenizeContext } from 'micromark-util-types';

/**
 * Classification of a line of Markdown. `prefix` is the length of the markers and whitespace of its enclosing quotes
 * and lists. `goesOn` reports whether the text continues the previous line's paragraph.
 */
interface Line {
  kind: 'text' | 'blank' | 'fence' | 'code' | 'fence-end' | 'indented-code';
  prefix: number;
  goesOn: boolean;
}

const maxPrefixLength = 60;
const prefixForm = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t])))*/;
/** Number of lines in a list or quote after which the next line at the margin counts as the start of a document. */
const maxBlockLines = 500;

/**
 * Creates a reader that classifies lines as they arrive with micromark's tokenizer, which keeps state between lines.
 */
export function createLineReader() {
  // an answer of one line, and what follows the last one, need no tokenizer
  let document: ReturnType<typeof createDocument> | null = null;
  let offset = 0;
  let lines = 0;

  return {
    /** Reads the next line, including its line break. */
    read(line: string): Line {
      if (lines >= maxBlockLines && /^\S/.test(line) && document?.isInFence() !== true) {
        document = null;
        offset = 0;
        lines = 0;
      }
      // endless nested markers would slow down every later line
      const isTooDeep = (prefixForm.exec(line)?.[0].length ?? 0) > maxPrefixLength;
      document ??= createDocument();
      const read = document.read(isTooDeep ? 'x\n' : line, offset);
      offset += isTooDeep ? 2 : line.length;
      lines += 1;
      return isTooDeep ? { kind: 'text', prefix: 0, goesOn: false } : read;
    },
  };
}

function createDocument() {
  // HTML is never sent, so none can contain a block
  const tokenizer = parse({ extensions: [{ disable: { null: ['htmlFlow'] } }] }).document();
  const toChunks = preprocess();
  let lineNumber = 0;
  let flow: TokenizeContext | null = null;
  let wasInFence = false;

  function read(line: string, offset: number): Line {
    lineNumber += 1;
    tokenizer.write(toChunks(line, undefined, false));
    const chunk = lastChunk(tokenizer);
    const current = chunk?._tokenizer ?? null;
    const entered = current === null ? new Set<string>() : enteredOn(current, lineNumber);
    const isSameFlow = current === flow;
    flow = current;
    const isInFence = current?.currentConstruct?.name === 'codeFenced';
    const prefix = chunk === null ? 0 : chunk.start.offset - offset;
    const kind = kindOf(line, entered, { isInFence, wasInFence: wasInFence && isSameFlow });
    wasInFence = isInFence;
    return { kind, prefix, goesOn: kind === 'text' && entered.has('chunkContent') && !entered.has('content') };
  }

  return { read, isInFence: () => wasInFence };
}

function kindOf(
  line: string,
  entered: Set<string>,
  { isInFence, wasInFence }: { isInFence: boolean; wasInFence: boolean },
): Line['kind'] {
  if (entered.has('codeFencedFence')) return isInFence ? 'fence' : 'fence-end';
  if (isInFence && wasInFence) return 'code';
  if (line.trim() === '') return 'blank';
  return entered.has('codeFlowValue') ? 'indented-code' : 'text';
}

function lastChunk({ events }: TokenizeContext): Token | null {
  return events.findLast(([, token]) => token.type === 'chunkFlow')?.[1] ?? null;
}

/** Returns the types of the tokens that begin on a line. It searches from the end, where the newest events are. */
function enteredOn({ events }: TokenizeContext, lineNumber: number): Set<string> {
  const types = new Set<string>();
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const [step, token] = events[index] ?? ['exit', null];
    if (token === null || token.end?.line < lineNumber) break;
    if (step === 'enter' && token.start.line === lineNumber) types.add(token.type);
  }
  return types;
}
