import { createRequire } from 'node:module';

// a process that has no YAML to read does not load the parser
const load = createRequire(import.meta.url);

export interface YamlRules {
  /** Largest number of values that aliases may stand for; 0 to refuse aliases. */
  maxAliases: number;
  /** Resolves the key `<<`. */
  merge?: boolean;
  /** Top-level key below which numbers and booleans are read as texts, as they were written: 3.10 is not 3.1. */
  textsBelow?: string;
  /**
   * Returns the identity of a key, which a map may have only once; undefined for a key that may be repeated. By
   * default, the key itself.
   */
  onceOf?(key: unknown): unknown;
}

/** Deepest nesting within one line; nesting by indentation is limited by the size of the text. */
const maxDepth = 100;

/**
 * Parses a YAML text and returns its value. A key must be a single value: the parser writes a key that is a map or a list out again at
 * every level, which takes minutes for a thousand characters. Throws SyntaxError, whose message is the end of a sentence about the text.
 */
export function readYaml(text: string, rules: YamlRules): unknown {
  const { maxAliases, merge = false, textsBelow, onceOf = (key) => key } = rules;
  const { isNode, isScalar, Lexer, parseDocument, visit }: typeof import('yaml') = load('yaml');
  const refuse = (problem: string): never => {
    throw new SyntaxError(problem);
  };
  // the parser calls itself at every level
  if (depthOf(new Lexer().lex(text)) > maxDepth) refuse('is nested too deeply');
  try {
    // keys are compared below, because the parser's own check takes quadratic time
    const document = parseDocument(text, { merge, prettyErrors: false, uniqueKeys: false });
    const [error] = document.errors;
    if (error !== undefined) refuse(`is not YAML: ${error.message}`);
    visit(document, {
      Alias: () => void (maxAliases === 0 && refuse('has an alias (*name), which is not supported')),
      Map(_key, { items }) {
        const found = new Set();
        for (const { key } of items) {
          if (key !== null && !isScalar(key)) return refuse('has a key that is not a single value');
          const once = onceOf(key?.value);
          if (once !== undefined && found.has(once)) return refuse(`has the key "${String(once).slice(0, 50)}" twice`);
          found.add(once);
        }
        return undefined;
      },
    });
    const written = textsBelow === undefined ? null : document.get(textsBelow, true);
    if (isNode(written)) {
      visit(written, {
        Scalar(_key, scalar) {
          if (scalar.value !== null) scalar.value = scalar.source;
        },
      });
    }
    return document.toJS({ maxAliasCount: maxAliases });
  } catch (error) {
    if (error instanceof ReferenceError) return refuse('has an alias without an anchor, or too many aliases');
    throw error;
  }
}

/** Returns how deep brackets, and collections that start on one line, are nested. */
function depthOf(tokens: Iterable<string>): number {
  let [brackets, begun, most] = [0, 0, 0];
  for (const token of tokens) {
    if (token === '[' || token === '{') brackets += 1;
    else if (token === ']' || token === '}') brackets -= 1;
    else if (token === '-' || token === '?') begun += 1;
    else if (token.startsWith('\n') || token.startsWith('\r')) begun = 0;
    most = Math.max(most, brackets + begun);
  }
  return most;
}
