import { memo, useMemo, useState } from 'react';
import { Button } from 'react-aria-components';
import { Decoration, Diff, Hunk, type HunkData } from 'react-diff-view';
import { ChangedLines } from '../components/change-size.tsx';
import { useCommentedLines } from './commented-lines.tsx';
import type { DiffLayout } from './diff-layout.ts';
import { highlighted } from './highlight.ts';
import type { LineComment, Review } from './line-comments.ts';
import type { PatchFile } from './read-patch.ts';

const words: Record<PatchFile['change'], string> = {
  add: 'new',
  delete: 'deleted',
  modify: 'changed',
  rename: 'renamed',
  copy: 'copied',
};
const maxLines = 1_500;

interface DiffFileProps {
  file: PatchFile;
  layout: DiffLayout;
  comments: readonly LineComment[];
  /** Changes the comments; absent if the file is only shown. */
  onComment: Review['change'] | undefined;
}

/** Shows one file of a patch. A very long one stays collapsed until opened. */
export const DiffFile = memo(function DiffFile({ file, layout, comments, onComment }: DiffFileProps) {
  const lines = file.hunks.reduce((sum, { changes }) => sum + changes.length, 0);
  const [isOpen, setOpen] = useState(lines <= maxLines);
  return (
    <section className="diff-file" aria-label={file.path} tabIndex={-1}>
      <header className="diff-file-head">
        <Button
          className="button button-quiet diff-fold"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? 'Fold' : 'Unfold'} ${file.path}`}
          onPress={() => setOpen(!isOpen)}
        >
          {isOpen ? '▾' : '▸'}
        </Button>
        <code className="diff-path">
          {file.oldPath !== null && <span className="quiet">{file.oldPath} → </span>}
          {file.path}
        </code>
        <span className="badge">{words[file.change]}</span>
        {file.modes !== null && <span className="badge">mode {file.modes}</span>}
        <span className="diff-counts">
          <ChangedLines additions={file.additions} deletions={file.deletions} />
        </span>
      </header>
      {isOpen && <Body file={file} layout={layout} comments={comments} onComment={onComment} />}
    </section>
  );
});

function Body({ file, layout, comments, onComment }: DiffFileProps) {
  const tokens = useMemo(() => highlighted(file), [file]);
  const commented = useCommentedLines(file, comments, onComment);
  if (file.isBinary) return <p className="diff-note">Binary file not shown.</p>;
  if (file.hunks.length === 0) {
    return (
      <p className="diff-note">
        {file.oldPath !== null
          ? 'Renamed without changes.'
          : file.modes !== null
            ? 'File mode changed.'
            : 'Empty file.'}
      </p>
    );
  }
  const viewType = file.change === 'add' || file.change === 'delete' ? 'unified' : layout;
  return (
    <div
      className="diff-scroll"
      tabIndex={0}
      role="group"
      aria-label={`Changes to ${file.path}`}
      onKeyDown={commented?.onKeyDown}
    >
      <Diff
        viewType={viewType}
        diffType={file.change}
        hunks={file.hunks}
        tokens={tokens}
        {...(commented !== null && { widgets: commented.widgets, renderGutter: commented.renderGutter })}
      >
        {(hunks: HunkData[]) =>
          hunks.flatMap((hunk) => [
            <Decoration key={`head ${hunk.content}`}>
              <div className="hunk-head">{hunk.content}</div>
            </Decoration>,
            <Hunk key={hunk.content} hunk={hunk} />,
          ])
        }
      </Diff>
    </div>
  );
}
