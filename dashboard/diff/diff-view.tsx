import { useMemo, useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import { ChangedLines } from '../components/change-size.tsx';
import { count, plural } from '../format.ts';
import { DiffFile } from './diff-file.tsx';
import { beginning, plain } from '../plain.ts';
import { storeLayout, storedLayout } from './diff-layout.ts';
import { FileTree } from './file-tree.tsx';
import type { LineComment, Review } from './line-comments.ts';
import { readPatch } from './read-patch.ts';
import 'react-diff-view/style/index.css';
import '../styles/diff.css';

const maxListed = 100_000;
const noComments: readonly LineComment[] = [];

interface DiffViewProps {
  patch: string;
  /** Gathers comments on lines and adds a tree of the files; absent for a diff that is only shown. */
  review?: Review;
}

/** Shows a patch file by file, side by side or in one column. */
export function DiffView({ patch, review }: DiffViewProps) {
  const list = useRef<HTMLDivElement>(null);
  const { files, left } = useMemo(() => readPatch(patch), [patch]);
  const [layout, setLayout] = useState(storedLayout);
  const additions = files.reduce((sum, file) => sum + file.additions, 0);
  const deletions = files.reduce((sum, file) => sum + file.deletions, 0);
  // a change that is too large for a patch is a list of its files
  if (files.length === 0 && patch !== '') return <pre>{plain(beginning(patch, maxListed).shown)}</pre>;
  if (files.length === 0) return <p className="quiet">No files changed.</p>;
  return (
    <div className="diffs">
      <div className="diffs-head">
        <span>
          {plural(files.length, 'file')} changed, <ChangedLines additions={additions} deletions={deletions} />
        </span>
        <div className="segments" role="group" aria-label="Layout of the diff">
          {(['unified', 'split'] as const).map((name) => (
            <Button
              key={name}
              className="segment"
              aria-pressed={layout === name}
              onPress={() => {
                storeLayout(name);
                setLayout(name);
              }}
            >
              {name === 'split' ? 'side by side' : 'unified'}
            </Button>
          ))}
        </div>
      </div>
      <div className={review !== undefined && files.length > 1 ? 'diffs-with-tree' : undefined}>
        {review !== undefined && files.length > 1 && (
          <FileTree
            files={files}
            comments={review.comments}
            onGo={(at) => {
              const file = list.current?.children[at];
              if (!(file instanceof HTMLElement)) return;
              file.focus({ preventScroll: true });
              file.scrollIntoView();
            }}
          />
        )}
        <div ref={list}>
          {files.map((file) => (
            <DiffFile
              key={`${file.oldPath ?? ''}>${file.path}`}
              file={file}
              layout={layout}
              comments={review?.comments.get(file.path) ?? noComments}
              onComment={review?.change}
            />
          ))}
        </div>
      </div>
      {left > 0 && <p className="hint">{count(left)} more characters not shown; the patch has them all.</p>}
    </div>
  );
}
