import { headOf } from './patch-files.ts';

/** A piece of the base file, in lines from 0 and without `to`, and what stands in its place. */
export interface Edit {
  from: number;
  to: number;
  /** With their line breaks; a last line may have none. */
  lines: string[];
}

/** What a patch as snapshots have it (`--full-index --binary`) says of one file. */
export interface FilePatch {
  /** Null: the base commit has no such file. */
  oldPath: string | null;
  /** Null: the file is gone. */
  newPath: string | null;
  /** Null where a pure rename does not say them. */
  oldMode: string | null;
  newMode: string | null;
  oldBlob: string | null;
  newBlob: string | null;
  isBinary: boolean;
  edits: Edit[];
  /** Lines of the base file that the patch shows, by their place. */
  baseLines: Map<number, string>;
  /** All that the patch says of the file. */
  text: string;
}

const noBlob = /^0+$/;

/** The files of a patch, in order. */
export function readFilePatches(patch: string): FilePatch[] {
  return patch
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith('diff --git '))
    .map(readFilePatch);
}

function readFilePatch(text: string): FilePatch {
  const { path, from, change, head } = headOf(text);
  const line = (pattern: RegExp) => pattern.exec(head)?.[1] ?? null;
  const index = /^index ([0-9a-f]+)\.\.([0-9a-f]+)(?: (\d+))?$/m.exec(head);
  const isNew = change === 'added' && from === null;
  const isDeleted = change === 'deleted';
  const mode = index?.[3] ?? null;
  return {
    oldPath: isNew ? null : (from ?? path),
    newPath: isDeleted ? null : path,
    oldMode: isNew ? null : (line(/^old mode (\d+)$/m) ?? line(/^deleted file mode (\d+)$/m) ?? mode),
    newMode: isDeleted ? null : (line(/^new mode (\d+)$/m) ?? line(/^new file mode (\d+)$/m) ?? mode),
    oldBlob: index?.[1] === undefined || noBlob.test(index[1]) ? null : index[1],
    newBlob: index?.[2] === undefined || noBlob.test(index[2]) ? null : index[2],
    isBinary: /^(?:GIT binary patch|Binary files )/m.test(text.slice(head.length)) || /^Binary files /m.test(head),
    ...readHunks(text.slice(head.length)),
    text,
  };
}

function readHunks(text: string): Pick<FilePatch, 'edits' | 'baseLines'> {
  const edits: Edit[] = [];
  const baseLines = new Map<number, string>();
  if (!text.startsWith('@@')) return { edits, baseLines };
  let at = 0;
  let last: '+' | '-' | ' ' = ' ';
  let edit: Edit | null = null;
  for (const line of text.split('\n')) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+/.exec(line);
    const [mark] = line;
    if (hunk !== null) {
      edit = null;
      // a hunk that takes no line stands behind the line it names
      at = Number(hunk[1]) - (hunk[2] === '0' ? 0 : 1);
    } else if (mark === '\\') {
      if (last === '+') edit?.lines.push((edit.lines.pop() ?? '').slice(0, -1));
      if (last !== '+') baseLines.set(at - 1, (baseLines.get(at - 1) ?? '').slice(0, -1));
    } else if (mark === ' ' || mark === '-' || mark === '+') {
      if (mark === ' ') edit = null;
      else if (edit === null) edits.push((edit = { from: at, to: at, lines: [] }));
      if (mark === '+') edit?.lines.push(`${line.slice(1)}\n`);
      else {
        baseLines.set(at, `${line.slice(1)}\n`);
        at += 1;
        if (mark === '-' && edit !== null) edit.to = at;
      }
      last = mark;
    }
  }
  return { edits, baseLines };
}
