import { createHash } from 'node:crypto';

/** What became of a file, by a patch. */
export interface FileChange {
  change: 'added' | 'changed' | 'deleted';
  /** Of the part of the patch that is about the file. */
  digest: string;
}

export interface ChangedFile {
  path: string;
  change: FileChange['change'];
}

/** The files of a patch as snapshots have it, by their path now; those of a renamed file stand under both of its paths. */
export function filesOfPatch(patch: string): Map<string, FileChange> {
  const files = new Map<string, FileChange>();
  for (const part of patch.split(/^(?=diff --git )/m)) {
    if (!part.startsWith('diff --git ')) listedFiles(part, files);
    else {
      const { path, from, change } = headOf(part);
      const digest = createHash('sha256').update(part).digest('base64');
      if (from !== null) files.set(from, { change: 'deleted', digest });
      files.set(path, { change, digest });
    }
  }
  return files;
}

/** A change that was too large for its patch is a list of names. */
function listedFiles(text: string, files: Map<string, FileChange>): void {
  for (const [line, kind, path = ''] of text.matchAll(/^([AMDT])\t(.+)$/gm)) {
    const change = kind === 'A' ? 'added' : kind === 'D' ? 'deleted' : 'changed';
    files.set(unquoted(path), { change, digest: line });
  }
}

/** What stands above the content of a file's part of a patch; a renamed file has `from`, and counts as added. */
export function headOf(text: string): {
  path: string;
  from: string | null;
  change: FileChange['change'];
  head: string;
} {
  const end = text.search(/^(?:@@|GIT binary patch)/m);
  const head = end === -1 ? text : text.slice(0, end);
  const line = (pattern: RegExp) => {
    const found = pattern.exec(head)?.[1];
    return found === undefined ? null : unquoted(found);
  };
  const from = line(/^rename from (.+)$/m);
  const path =
    line(/^rename to (.+)$/m) ??
    withoutPrefix(line(/^\+\+\+ (?!\/dev\/null)(.+?)\t?$/m)) ??
    withoutPrefix(line(/^--- (?!\/dev\/null)(.+?)\t?$/m)) ??
    pathOfBoth(head);
  if (/^deleted file mode/m.test(head)) return { path, from, change: 'deleted', head };
  return { path, from, change: /^new file mode/m.test(head) || from !== null ? 'added' : 'changed', head };
}

function withoutPrefix(path: string | null): string | null {
  return path === null ? null : path.slice(2);
}

/** Without a rename both names of the first line are the same. */
function pathOfBoth(head: string): string {
  const [first = ''] = head.slice('diff --git '.length).split('\n');
  const half = first.slice(0, (first.length - 1) / 2);
  return unquoted(half).slice(2);
}

/** A path as git writes it: in quotes and with escapes when it holds more than plain characters. */
function unquoted(path: string): string {
  if (!path.startsWith('"')) return path;
  const bytes: number[] = [];
  const named: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };
  for (const [, octal, escaped, plain] of path.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/g)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else if (escaped !== undefined)
      bytes.push(...(named[escaped] === undefined ? Buffer.from(escaped) : [named[escaped]]));
    else bytes.push(...Buffer.from(plain ?? ''));
  }
  return Buffer.from(bytes).toString();
}

/** What changed from one tree to another, by their patches against the same commit. */
export function changedBetween(before: Map<string, FileChange>, after: Map<string, FileChange>): ChangedFile[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return paths.flatMap((path) => {
    const [old, now] = [before.get(path), after.get(path)];
    return old?.digest === now?.digest && old?.change === now?.change ? [] : [{ path, change: changeOf(old, now) }];
  });
}

/** A file that stands in no patch is as the commit has it. */
function changeOf(old: FileChange | undefined, now: FileChange | undefined): ChangedFile['change'] {
  const [wasThere, isThere] = [old?.change !== 'deleted', now?.change !== 'deleted'];
  if (wasThere && !isThere) return 'deleted';
  if (!wasThere && isThere) return 'added';
  if (old === undefined && now?.change === 'added') return 'added';
  return now === undefined && old?.change === 'added' ? 'deleted' : 'changed';
}
