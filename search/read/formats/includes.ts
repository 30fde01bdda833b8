import { readIncludedPage } from '../front-matter.ts';
import type { SourceFile } from '../source-file.ts';

const maxDepth = 8;
const maxIncludes = 500;
/** Longest page with its includes, in characters. */
const maxLength = 1_000_000;

/** A directive that stands for the text of another file. */
export interface IncludeSyntax {
  /** Rewrites a page first, where a directive is part of other text. */
  rewrite?(page: string): string;
  /** Finds the directives; global, with the target as its first group or as the group `target`. */
  pattern: RegExp;
  /** Returns the paths that a target may refer to, as seen from the including file, most likely first. */
  resolve(target: string, from: string): string[];
  /** Reports whether the text of the file is code, in which no directive is followed. */
  isCode?(directive: RegExpExecArray): boolean;
  /** Selects or adapts the text of the included file; `values` are its front matter. */
  adapt?(text: string, directive: RegExpExecArray, values: Record<string, unknown>): string;
  /** Returns the text that is shown if the file is not included. */
  missing?(directive: RegExpExecArray): string;
}

/** Finds a file that a page includes; undefined if there is none, or if it has not been read. */
export type FindIncluded = (path: string) => SourceFile | undefined;

/**
 * Replaces the include directives of a page by the texts of other files, which may include others. An include is left
 * out if its file is missing, is restricted to groups, includes itself, or would make the page too long.
 */
export function withIncludes(
  text: string,
  { path, find, syntax }: { path: string; find: FindIncluded; syntax: IncludeSyntax },
): string {
  let left = Math.max(0, maxLength - text.length);
  let uses = 0;
  return expand(text, [path]);

  function expand(source: string, chain: string[]): string {
    const parts: string[] = [];
    let end = 0;
    const page = syntax.rewrite?.(source) ?? source;
    for (const match of page.matchAll(syntax.pattern)) {
      parts.push(page.slice(end, match.index), included(match, chain));
      end = match.index + match[0].length;
    }
    parts.push(page.slice(end));
    return parts.join('');
  }

  function included(match: RegExpExecArray, chain: string[]): string {
    const missing = syntax.missing?.(match) ?? '';
    if (++uses > maxIncludes) return missing;
    const target = (match.groups?.target ?? match[1] ?? '').trim();
    const file = firstOf(syntax.resolve(target, chain.at(-1) ?? path));
    if (file === undefined || chain.includes(file.path) || chain.length > maxDepth) return missing;
    const page = readIncludedPage(file.read());
    if (page === null) return missing;
    const text = page.body.slice(0, left);
    left -= text.length;
    const adapted = syntax.adapt?.(text, match, page.values) ?? text;
    return syntax.isCode?.(match) === true ? adapted : expand(adapted, [...chain, file.path]);
  }

  function firstOf(paths: string[]): SourceFile | undefined {
    for (const one of paths) {
      const file = find(one);
      if (file !== undefined) return file;
    }
    return undefined;
  }
}
