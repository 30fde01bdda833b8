export interface ChangedFile {
  path: string;
  change: 'added' | 'changed' | 'deleted';
}

/** Lists the files of a git patch by their new paths. A renamed file is listed under both of its paths. */
export function filesOfPatch(patch: string): ChangedFile[] {
  return patch.split(/^(?=diff --git )/m).flatMap((part) => {
    if (!part.startsWith('diff --git ')) return listedFiles(part);
    const { path, from, change } = headOf(part);
    return [...(from === null ? [] : [{ path: from, change: 'deleted' as const }]), { path, change }];
  });
}

/** Parses the list of names that is stored instead of a patch that is too large. */
function listedFiles(text: string): ChangedFile[] {
  return [...text.matchAll(/^([AMDT])\t(.+)$/gm)].map(([, kind, path = '']) => ({
    path: unquoted(path),
    change: kind === 'A' ? 'added' : kind === 'D' ? 'deleted' : 'changed',
  }));
}

/** Parses the header of a file's part. A renamed file has `from` and counts as added. */
function headOf(text: string): ChangedFile & { from: string | null } {
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
  if (/^deleted file mode/m.test(head)) return { path, from, change: 'deleted' };
  return { path, from, change: /^new file mode/m.test(head) || from !== null ? 'added' : 'changed' };
}

function withoutPrefix(path: string | null): string | null {
  return path === null ? null : path.slice(2);
}

/** Returns the path from the first line, where both names are equal unless the file was renamed. */
function pathOfBoth(head: string): string {
  const [first = ''] = head.slice('diff --git '.length).split('\n');
  const half = first.slice(0, (first.length - 1) / 2);
  return unquoted(half).slice(2);
}

/** Decodes a path that git has quoted and escaped because of unusual characters. */
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
