import { readPatch, type PatchFile } from '../diff/read-patch.ts';

const relations = ['different', 'left', 'right', 'same'] as const;
/** Whether both jobs change a file differently, only one changes it, or both in the same way. */
export type Relation = (typeof relations)[number];

export interface ComparedFile {
  path: string;
  relation: Relation;
  left: PatchFile | null;
  right: PatchFile | null;
}

/** Returns the files that either patch changes, those that differ first. */
export function compareFiles(left: string, right: string): ComparedFile[] {
  const lefts = byPath(left);
  const rights = byPath(right);
  const files = [...new Set([...lefts.keys(), ...rights.keys()])].sort().map((path): ComparedFile => {
    const sides = { left: lefts.get(path) ?? null, right: rights.get(path) ?? null };
    return { path, relation: relationOf(sides), ...sides };
  });
  return relations.flatMap((relation) => files.filter((file) => file.relation === relation));
}

function byPath(patch: string): Map<string, PatchFile> {
  return new Map(readPatch(patch).files.map((file) => [file.path, file]));
}

function relationOf({ left, right }: Pick<ComparedFile, 'left' | 'right'>): Relation {
  if (left === null) return 'right';
  if (right === null) return 'left';
  return changeOf(left) === changeOf(right) ? 'same' : 'different';
}

/** Returns a change without what depends on the rest of the file: the ids of its blobs and its line numbers. */
function changeOf({ text, isBinary }: PatchFile): string {
  const withoutPlaces = text.replace(/^@@ -\S+ \+\S+ @@.*$/gm, '@@');
  // nothing but its id tells what a binary file contains
  return (isBinary ? text : withoutPlaces.replace(/^index .*\n/m, '')).trimEnd();
}
