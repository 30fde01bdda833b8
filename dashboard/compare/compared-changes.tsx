import { useMemo, useState } from 'react';
import { Button } from 'react-aria-components';
import { DiffFile } from '../diff/diff-file.tsx';
import type { LineComment } from '../diff/line-comments.ts';
import { type PatchFile, readPatch } from '../diff/read-patch.ts';
import { plural } from '../format.ts';
import 'react-diff-view/style/index.css';
import '../styles/diff.css';

const words: Record<Relation, string> = {
  different: 'different',
  left: 'only left',
  right: 'only right',
  same: 'identical',
};
const maxFiles = 500;

/** Shows which files two jobs change, and each file's changes on request. */
export function ComparedChanges({ left, right }: { left: string; right: string }) {
  const files = useMemo(() => compareFiles(left, right), [left, right]);
  if (files.length === 0) return <p className="quiet">No files changed.</p>;
  return (
    <>
      <ul className="compared-files">
        {files.slice(0, maxFiles).map((file) => (
          <FileItem key={file.path} file={file} />
        ))}
      </ul>
      {files.length > maxFiles && <p className="hint">{plural(files.length - maxFiles, 'more file')} not shown.</p>}
    </>
  );
}

function FileItem({ file: { path, relation, left, right } }: { file: ComparedFile }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <Button className="button button-quiet compared-file" aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
        <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span>
        <code>{path}</code>
        <span className={`badge ${relation === 'different' ? 'badge-warn' : ''}`}>{words[relation]}</span>
      </Button>
      {isOpen && relation === 'same' && <Change file={left} />}
      {isOpen && relation !== 'same' && (
        <div className="compared">
          <Change file={left} />
          <Change file={right} />
        </div>
      )}
    </li>
  );
}

const noComments: readonly LineComment[] = [];

function Change({ file }: { file: PatchFile | null }) {
  return file === null ? (
    <p className="quiet">Not changed.</p>
  ) : (
    <DiffFile file={file} layout="unified" comments={noComments} onComment={undefined} />
  );
}

const relations = ['different', 'left', 'right', 'same'] as const;
/** Whether both jobs change a file differently, only one changes it, or both in the same way. */
type Relation = (typeof relations)[number];

interface ComparedFile {
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
