import { RE2JS } from 're2js';
import { z } from 'zod';

/** An invalid glob; the message says why. */
export class GlobError extends Error {
  override name = 'GlobError';
}

const maxPatternLength = 500;

/**
 * Compiles a glob into a test of paths. A pattern without a slash matches a name at any depth; a leading "!" negates
 * it. The test takes time linear in the path for every pattern, because neither is trusted. Throws GlobError.
 */
export function compileGlob(given: string): (path: string) => boolean {
  if (given.length > maxPatternLength) throw new GlobError(`The glob is longer than ${maxPatternLength} characters.`);
  const isNegated = given.startsWith('!');
  const glob = (isNegated ? given.slice(1) : given).replace(/^(\.?\/)+/, '');
  if (glob === '') throw new GlobError('The glob is empty; "**/*.md" finds all Markdown files.');
  const anywhere = glob.includes('/') ? '' : '(?:[^/]+/)*';
  const expression = compile(`^${anywhere}${expressionOf(glob)}$`);
  return (path) => expression.test(path) !== isNegated;
}

/** A valid glob. */
export const globSchema = z.string().superRefine((text, context) => {
  try {
    compileGlob(text);
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    context.addIssue(`is not a valid glob: ${error.message}`);
  }
});

function compile(expression: string): RE2JS {
  try {
    return RE2JS.compile(expression, RE2JS.DOTALL);
  } catch (cause) {
    throw new GlobError('The glob is malformed.', { cause });
  }
}

function expressionOf(glob: string): string {
  let expression = '';
  let depth = 0;
  for (let at = 0; at < glob.length;) {
    const [text, length] = pieceAt(glob, at, depth);
    if (glob[at] === '{' && length === 1 && text === '(?:') depth += 1;
    if (glob[at] === '}' && depth > 0) depth -= 1;
    expression += text;
    at += length;
  }
  return expression;
}

/** Returns the expression for the part of the glob at an offset, with that part's length. */
function pieceAt(glob: string, at: number, depth: number): [string, number] {
  const startsSegment = at === 0 || glob[at - 1] === '/';
  switch (glob[at]) {
    case '*': {
      const stars = /^\*+/.exec(glob.slice(at))?.[0].length ?? 1;
      const after = glob[at + stars];
      if (stars === 2 && startsSegment && after === '/') return ['(?:[^/]+/)*', 3];
      if (stars === 2 && startsSegment && after === undefined) return ['.+', 2];
      return [startsSegment && (after === undefined || after === '/') ? '[^/]+' : '[^/]*', stars];
    }
    case '?':
      return ['[^/]', 1];
    case '[':
      return classAt(glob, at) ?? ['\\[', 1];
    case '{':
      return isClosed(glob, at) ? ['(?:', 1] : ['\\{', 1];
    case '}':
      return depth > 0 ? [')', 1] : ['\\}', 1];
    case ',':
      return depth > 0 ? ['|', 1] : [',', 1];
    case '\\':
      return at + 1 < glob.length ? [RE2JS.quote(glob.charAt(at + 1)), 2] : ['\\\\', 1];
    default:
      return [RE2JS.quote(glob.charAt(at)), 1];
  }
}

/** Parses a character set such as `[a-z]` or `[!0-9]`; null when it is not closed. */
function classAt(glob: string, at: number): [string, number] | null {
  const match = /^\[([!^]?)(\]?[^\]/]*)\]/.exec(glob.slice(at));
  const body = match?.[2];
  if (match === null || body === undefined || body === '') return null;
  const characters = body.replaceAll(/[\\[\]^&~]/g, (character) => `\\${character}`);
  return [match[1] === '' ? `[${characters}]` : `[^/${characters}]`, match[0].length];
}

function isClosed(glob: string, at: number): boolean {
  let depth = 0;
  for (let next = at; next < glob.length; next += 1) {
    if (glob[next] === '\\') next += 1;
    else if (glob[next] === '{') depth += 1;
    else if (glob[next] === '}' && --depth === 0) return true;
  }
  return false;
}
