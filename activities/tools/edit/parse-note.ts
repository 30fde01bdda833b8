import { createRequire } from 'node:module';
import type { AgentPath } from '../files/agent-path.ts';

const load = createRequire(import.meta.url);
const maxParsedCharacters = 256 * 1024;
/** Its parser takes up to half a second for so much. */
const maxYamlCharacters = 64 * 1024;

/** Returns a note for the output when a change leaves a file that no longer parses; empty otherwise. */
export function parseNote(path: AgentPath, { before, after }: { before: string | null; after: string }): string {
  const problem = syntaxProblem(path, after);
  if (problem === null || (before !== null && syntaxProblem(path, before) !== null)) return '';
  return `\nThe file no longer parses: ${problem}`;
}

function syntaxProblem(path: AgentPath, text: string): string | null {
  if (text.length > maxParsedCharacters) return null;
  const ending = /\.(json|ya?ml)$/.exec(path.parts.at(-1) ?? '')?.[1];
  try {
    if (ending === 'json') JSON.parse(text);
    if (ending === 'yaml' || ending === 'yml') return yamlProblem(text);
    return null;
  } catch (error) {
    // Nesting deeper than the parser's stack is a RangeError, which says nothing about the file.
    return error instanceof SyntaxError ? firstLineOf(error.message) : null;
  }
}

function yamlProblem(text: string): string | null {
  if (text.length > maxYamlCharacters) return null;
  const { LineCounter, parseAllDocuments }: typeof import('yaml') = load('yaml');
  const lineCounter = new LineCounter();
  // the parser compares each key with all others, and copies the line of each error
  const cheap = { uniqueKeys: false, prettyErrors: false };
  for (const { errors } of parseAllDocuments(text, { logLevel: 'silent', lineCounter, ...cheap })) {
    const [error] = errors;
    if (error === undefined) continue;
    const { line, col } = lineCounter.linePos(error.pos[0]);
    return firstLineOf(`${error.message} at line ${line}, column ${col}`);
  }
  return null;
}

function firstLineOf(message: string): string {
  return (message.split('\n')[0] ?? '').slice(0, 300);
}
