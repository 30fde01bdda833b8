export interface TreeNode {
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
