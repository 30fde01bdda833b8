import { parseDiff, type FileData } from 'react-diff-view';
import { plain } from '../plain.ts';

export interface PatchFile {
  path: string;
  /** Path before a move; null if the file was not moved. */
  oldPath: string | null;
  change: FileData['type'];
  /** Modes before and after, if they changed: `100644 → 100755`. */
  modes: string | null;
  isBinary: boolean;
  additions: number;
  deletions: number;
  hunks: FileData['hunks'];
  /** Part of the patch for this file. */
  text: string;
}

export interface Patch {
  files: PatchFile[];
  /** Number of characters beyond those that a page can show. */
  left: number;
}

const maxPatchLength = 3_000_000;
const maxLineLength = 2_000;

/**
 * Splits a patch into its files. A patch or a line longer than a page can show is truncated. Everything in a patch is
 * treated as plain text.
 */
export function readPatch(patch: string): Patch {
  const sections = patch
    .slice(0, maxPatchLength)
    .split(/^(?=diff --git )/m)
    .filter((text) => text.startsWith('diff --git'));
  const isCut = patch.length > maxPatchLength;
  // the last file of a truncated patch is incomplete
  const whole = isCut && sections.length > 1 ? sections.slice(0, -1) : sections;
  const shown = whole.reduce((sum, { length }) => sum + length, 0);
  return { files: whole.flatMap(readFile), left: isCut ? patch.length - shown : 0 };
}

function readFile(text: string): PatchFile[] {
  const shown = text
    .split('\n')
    .map((line) =>
      plain(line.length > maxLineLength ? `${line.slice(0, maxLineLength)}… (${line.length} characters)` : line),
    )
    .join('\n');
  const [file] = parseDiff(shown, { nearbySequences: 'zip' });
  if (file === undefined) return [];
  const header = headerOf(text);
  const changes = file.hunks.flatMap((hunk) => hunk.changes);
  const path = unquoted(header.newPath ?? file.newPath);
  const oldPath = unquoted(header.oldPath ?? file.oldPath);
  // the parser reports a moved file with changes, and a file without lines, as modified
  const change = header.change ?? file.type;
  return [
    {
      path: plain(change === 'delete' ? oldPath : path),
      oldPath: change === 'rename' || change === 'copy' ? plain(oldPath) : null,
      change,
      modes: header.modes,
      isBinary: file.isBinary === true || /^(?:Binary files |GIT binary patch)/m.test(text),
      additions: changes.filter(({ type }) => type === 'insert').length,
      deletions: changes.filter(({ type }) => type === 'delete').length,
      hunks: file.hunks,
      text,
    },
  ];
}

const kinds = [
  [/^new file mode /m, 'add'],
  [/^deleted file mode /m, 'delete'],
  [/^rename from /m, 'rename'],
  [/^copy from /m, 'copy'],
] as const;

/** Returns the names from the extended header, because the first line alone can be ambiguous. */
function headerOf(text: string): {
  oldPath: string | null;
  newPath: string | null;
  change: FileData['type'] | null;
  modes: string | null;
} {
  const head = text.slice(0, text.search(/^@@/m) === -1 ? text.length : text.search(/^@@/m));
  const name = (pattern: RegExp) => {
    const found = pattern.exec(head)?.[1];
    return found === undefined || found === '/dev/null' ? null : found;
  };
  const first = /^diff --git (?:"a\/((?:[^"\\]|\\.)*)" "b\/(.*)"|a\/(.*) b\/(.*))$/m.exec(head);
  const modes = /^old mode (\d+)\nnew mode (\d+)$/m.exec(head);
  return {
    change: kinds.find(([pattern]) => pattern.test(head))?.[1] ?? null,
    modes: modes === null ? null : `${modes[1]} → ${modes[2]}`,
    oldPath: name(/^(?:rename|copy) from (.*)$/m) ?? name(/^--- "?a\/(.*?)"?\t?$/m) ?? first?.[1] ?? first?.[3] ?? null,
    newPath:
      name(/^(?:rename|copy) to (.*)$/m) ?? name(/^\+\+\+ "?b\/(.*?)"?\t?$/m) ?? first?.[2] ?? first?.[4] ?? null,
  };
}

const escapes: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

/** Decodes a name quoted by Git, which writes unusual bytes as octal numbers and some as a letter. */
function unquoted(name: string): string {
  if (!name.includes('\\')) return name.replace(/^"|"$/g, '');
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (const [, octal, escaped, other] of name.replace(/^"|"$/g, '').matchAll(/\\([0-7]{3})|\\(.)|([\s\S])/gu)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else
      bytes.push(
        ...(escapes[escaped ?? ''] === undefined ? encoder.encode(escaped ?? other) : [escapes[escaped ?? ''] ?? 0]),
      );
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
