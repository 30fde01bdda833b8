import type { Git, GitCall } from '../git/git.ts';

/** The line with which git ends a conflict: the label is the merged commit. */
const marker = '>{7} [0-9a-f]{40}';
const addedMarker = new RegExp(`^\\+${marker}`, 'm');
const heading = 'Conflict markers were added to these files:\n';
/** More arguments than that are not given to git. */
const maxFiles = 200;

/** Returns the files to which a stored patch, or the list of files that replaces a large one, adds conflict markers. */
export function markedFilesIn(patch: string): string[] {
  if (patch.startsWith(heading)) return patch.slice(heading.length, patch.indexOf('\n\n')).split('\n');
  if (!addedMarker.test(patch)) return [];
  const files = patch.split(/^diff --git /m).filter((file) => addedMarker.test(file));
  return files.map((file) => /^\+{3} "?b\/(.*?)"?\t?$/m.exec(file)?.[1] ?? '');
}

/** Returns the beginning of the list of files, in which `markedFilesIn` reads the marked ones. Empty if there are none. */
export async function listMarkedFiles(
  git: Git,
  { onTree, from, tree }: { onTree: Omit<GitCall, 'args'>; from: string; tree: string },
): Promise<string> {
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-ext-diff', '--no-textconv', `-G^${marker}`, from, tree];
  // the option finds removed markers, too
  const found = pathsIn((await git.run({ ...onTree, args })).stdout);
  if (found.length === 0) return '';
  const grep = ['grep', '-z', '-I', '-l', '-E', '-e', `^${marker}`, tree, '--', ...found.slice(0, maxFiles)];
  const { stdout } = await git.run({ ...onTree, args: grep, acceptedExitCodes: [1] });
  const marked = pathsIn(stdout).map((path) => path.slice(`${tree}:`.length).replaceAll('\n', '?'));
  return marked.length === 0 ? '' : `${heading}${marked.join('\n')}\n\n`;
}

function pathsIn(output: Buffer): string[] {
  return output.toString().split('\0').slice(0, -1);
}
