import { useMemo, useState } from 'react';
import { Button } from 'react-aria-components';
import { DiffFile } from '../diff/diff-file.tsx';
import type { LineComment } from '../diff/line-comments.ts';
import type { PatchFile } from '../diff/read-patch.ts';
import { plural } from '../format.ts';
import { compareFiles, type ComparedFile, type Relation } from './compared-files.ts';
import 'react-diff-view/style/index.css';
import '../styles/diff.css';

const words: Record<Relation, string> = {
  different: 'different',
  left: 'only left',
  right: 'only right',
  same: 'identical',
};
const mostFiles = 500;

/** Shows which files two jobs change, and each file's changes on request. */
export function ComparedChanges({ left, right }: { left: string; right: string }) {
  const files = useMemo(() => compareFiles(left, right), [left, right]);
  if (files.length === 0) return <p className="quiet">No files changed.</p>;
  return (
    <>
      <ul className="compared-files">
        {files.slice(0, mostFiles).map((file) => (
          <FileItem key={file.path} file={file} />
        ))}
      </ul>
      {files.length > mostFiles && <p className="hint">{plural(files.length - mostFiles, 'more file')} not shown.</p>}
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
