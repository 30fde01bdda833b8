import { treePoint } from '../../sandbox/command-environment.ts';
import { ToolProblem } from '../tool-problem.ts';

/** A path inside the tree: its parts below the root, none for the root itself. */
export interface AgentPath {
  parts: string[];
  /** The path as outputs show it. */
  shown: string;
}

const maxPathBytes = 4096;
const maxNameBytes = 255;
/** A path as commands print it. */
const insideTree = new RegExp(`^${treePoint}(?:/|$)(.*)$`);
const controlCharacters = /[\p{Cc}\u2028\u2029]/u;
const misleadingCharacters = /[\p{Cc}\u2028\u2029\p{Bidi_Control}]/gu;

/** Parses a path of a model. Throws ToolProblem when it leaves the tree, names `.git`, or is not a path. */
export function parseAgentPath(given: string): AgentPath {
  const shown = showPath(given.length > 200 ? `${given.slice(0, 200)}…` : given);
  if (!given.isWellFormed() || controlCharacters.test(given)) {
    throw new ToolProblem(`The path ${shown} contains a control character.`);
  }
  if (Buffer.byteLength(given) > maxPathBytes) {
    throw new ToolProblem(`The path is longer than ${maxPathBytes} bytes.`);
  }
  if (given.includes('\\')) throw new ToolProblem(`The path ${shown} contains a backslash; separate folders with "/".`);
  const [, inside] = insideTree.exec(given) ?? [];
  if (given.startsWith('/') && inside === undefined) {
    throw new ToolProblem(`The path ${shown} is absolute; make it relative to the root of the repository.`);
  }
  const parts: string[] = [];
  for (const name of (inside ?? given).split('/')) {
    if (isGitName(name)) throw new ToolProblem(`The path ${shown} is inside .git, which is not accessible.`);
    if (Buffer.byteLength(name) > maxNameBytes) {
      throw new ToolProblem(`The path ${shown} contains a name longer than ${maxNameBytes} bytes.`);
    }
    if (name === '' || name === '.') continue;
    if (name !== '..') parts.push(name);
    else if (parts.pop() === undefined) throw new ToolProblem(`The path ${shown} leads outside the repository.`);
  }
  return agentPathOf(parts);
}

/** Returns the path of parts that are known to be plain names. */
export function agentPathOf(parts: string[]): AgentPath {
  return { parts, shown: parts.length === 0 ? '.' : showPath(parts.join('/')) };
}

/**
 * Reports whether a file system could treat a name as `.git`: in another case, as an NTFS short name or stream, with
 * trailing dots or spaces, with characters that HFS ignores, or in compatibility forms of the letters.
 */
export function isGitName(name: string): boolean {
  const plain = name
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/(?<![. ])[. ]+$/, '');
  return plain === '.git' || /^git~\d+$/.test(plain);
}

/** Returns a path in a form that takes one line and reads in one direction. */
export function showPath(path: string): string {
  return path.toWellFormed().replaceAll(misleadingCharacters, (character) => {
    const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `<U+${hex}>`;
  });
}
