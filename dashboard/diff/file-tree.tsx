import { useMemo } from 'react';
import { Button, Tree, TreeItem, TreeItemContent } from 'react-aria-components';
import { ChangedLines } from '../components/change-size.tsx';
import { plural } from '../format.ts';
import { buildTree, type TreeNode } from './build-tree.ts';
import type { Review } from './line-comments.ts';
import type { PatchFile } from './read-patch.ts';

interface FileTreeProps {
  files: readonly PatchFile[];
  comments: Review['comments'];
  /** Shows the file at a position. */
  onGo(at: number): void;
}

/** Shows the changed files by folder. */
export function FileTree({ files, comments, onGo }: FileTreeProps) {
  const nodes = useMemo(() => buildTree(files.map(({ path }) => path)), [files]);
  const folders = useMemo(() => nodes.flatMap(foldersIn), [nodes]);

  function item(node: TreeNode) {
    const file = node.at === null ? undefined : files[node.at];
    const said = file === undefined ? 0 : (comments.get(file.path)?.length ?? 0);
    return (
      <TreeItem
        key={node.path}
        id={node.path}
        textValue={node.name}
        className="tree-item"
        onAction={() => node.at !== null && onGo(node.at)}
      >
        <TreeItemContent>
          {({ isExpanded }) => (
            <span className="tree-line">
              {file === undefined && (
                <Button slot="chevron" className="tree-fold">
                  {isExpanded ? '▾' : '▸'}
                </Button>
              )}
              <span className="tree-name">{node.name}</span>
              {said > 0 && (
                <span className="badge" aria-label={plural(said, 'comment')}>
                  {said}
                </span>
              )}
              {file !== undefined && (
                <span className="diff-counts">
                  <ChangedLines additions={file.additions} deletions={file.deletions} />
                </span>
              )}
            </span>
          )}
        </TreeItemContent>
        {node.children.map(item)}
      </TreeItem>
    );
  }

  return (
    <Tree aria-label="Changed files" className="file-tree" defaultExpandedKeys={folders}>
      {nodes.map(item)}
    </Tree>
  );
}

function foldersIn({ path, children }: TreeNode): string[] {
  return children.length === 0 ? [] : [path, ...children.flatMap(foldersIn)];
}
