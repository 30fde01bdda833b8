import { useMemo } from 'react';
import { Button, Tree, TreeItem, TreeItemContent } from 'react-aria-components';
import { ChangedLines } from '../components/change-size.tsx';
import { plural } from '../format.ts';
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
    const commentCount = file === undefined ? 0 : (comments.get(file.path)?.length ?? 0);
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
              {commentCount > 0 && (
                <span className="badge" aria-label={plural(commentCount, 'comment')}>
                  {commentCount}
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

interface TreeNode {
  /** Name of a file, or of folders of which each holds only the next: `docs/guides`. */
  name: string;
  path: string;
  /** Position of a file; null for a folder. */
  at: number | null;
  children: TreeNode[];
}

/** Sorts paths into their folders, in the order of the paths. */
export function buildTree(paths: readonly string[]): TreeNode[] {
  const root: TreeNode = { name: '', path: '', at: null, children: [] };
  for (const [at, path] of paths.entries()) {
    const names = path.split('/');
    let folder = root;
    for (const [depth, name] of names.slice(0, -1).entries()) {
      // ends in a slash, because a path may be a file before a change and a folder after it
      const path = `${names.slice(0, depth + 1).join('/')}/`;
      let next = folder.children.find((child) => child.path === path);
      if (next === undefined) folder.children.push((next = { name, path, at: null, children: [] }));
      folder = next;
    }
    folder.children.push({ name: names.at(-1) ?? path, path, at, children: [] });
  }
  return root.children.map(shortened);
}

function shortened(node: TreeNode): TreeNode {
  const [only] = node.children;
  if (only !== undefined && only.at === null && node.children.length === 1)
    return shortened({ ...only, name: `${node.name}/${only.name}` });
  return { ...node, children: node.children.map(shortened) };
}
