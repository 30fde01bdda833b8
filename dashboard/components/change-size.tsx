import { count, plural } from '../format.ts';

interface ChangeSizeProps {
  /** Null before a change is published. */
  changedFiles: number | null;
  /** Null if the lines were not counted. */
  additions: number | null;
  deletions: number | null;
}

/** Shows the size of a change in lines, or else in files. */
export function ChangeSize({ changedFiles, additions, deletions }: ChangeSizeProps) {
  if (changedFiles === null) return null;
  const files = plural(changedFiles, 'file');
  if (additions === null || deletions === null) return files;
  return (
    <span title={files}>
      <ChangedLines additions={additions} deletions={deletions} />
    </span>
  );
}

/** Shows how many lines were added and removed. */
export function ChangedLines({ additions, deletions }: { additions: number; deletions: number }) {
  return (
    <>
      <span className="added">+{count(additions)}</span> <span className="removed">−{count(deletions)}</span>
    </>
  );
}
