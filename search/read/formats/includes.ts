import { readIncluded } from '../front-matter.ts';
import type { SourceFile } from '../source-file.ts';

const deepest = 8;
const mostIncludes = 500;
/** Longest page with its includes, in characters. */
const longest = 1_000_000;

/** A directive that stands for the text of another file. */
export interface IncludeSyntax {
  /** Finds the directives; global, with the target as its first group or as the group `target`. */
  pattern: RegExp;
  /** Returns the path of the file that a target names, from the file that includes it; null for none. */
  resolve(target: string, from: string): string | null;
  /** Reports whether the text of the file is code, in which no directive is followed. */
  isCode?(directive: RegExpExecArray): boolean;
  /** Selects or adapts the text of the included file. */
  adapt?(text: string, directive: RegExpExecArray): string;
}

/**
 * Replaces the include directives of a page by the texts of other files of the tree, which may include others. What is
 * missing, is for groups, repeats itself or would make the page too long is left out.
 */
export function withIncludes(
  text: string,
  { path, files, syntax }: { path: string; files: ReadonlyMap<string, SourceFile>; syntax: IncludeSyntax },
): string {
  let left = Math.max(0, longest - text.length);
  let uses = 0;
  return expand(text, [path]);

  function expand(source: string, chain: string[]): string {
    const parts: string[] = [];
    let end = 0;
    for (const match of source.matchAll(syntax.pattern)) {
      parts.push(source.slice(end, match.index), included(match, chain));
      end = match.index + match[0].length;
    }
    parts.push(source.slice(end));
    return parts.join('');
  }

  function included(match: RegExpExecArray, chain: string[]): string {
    const target = (match.groups?.target ?? match[1] ?? '').trim();
    const found = syntax.resolve(target, chain.at(-1) ?? path);
    const file = found === null ? undefined : files.get(found);
    if (found === null || file === undefined || chain.includes(found) || chain.length > deepest) return '';
    if (++uses > mostIncludes) return '';
    const text = readIncluded(file.read())?.slice(0, left) ?? '';
    left -= text.length;
    const adapted = syntax.adapt?.(text, match) ?? text;
    return syntax.isCode?.(match) === true ? adapted : expand(adapted, [...chain, found]);
  }
}
