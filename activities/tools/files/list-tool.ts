import { z } from 'zod';
import { parseAgentPath, showPath } from './agent-path.ts';
import { statIn, targetIn } from './beneath.ts';
import { defineTool } from '../define-tool.ts';
import { sizeText } from '../tool-output.ts';
import { walkNote, walkTree, type TreeEntry } from './walk-tree.ts';

const maxShown = 1_000;

const inputSchema = z.object({
  path: z.string().default('.').describe('Folder, relative to the root of the repository (default: the root)'),
  depth: z.int().min(1).max(10).default(1).describe('How many levels to show (default 1)'),
});

export const listTool = defineTool({
  description:
    'Lists a folder: one path per line from the root of the repository, folders with a trailing slash, files with their size.',
  inputSchema,
  isReadOnly: true,
  async run({ path, depth }, { root, signal, ignoredPaths }) {
    const start = parseAgentPath(path);
    const lines: string[] = [];
    const end = await walkTree({
      root,
      start,
      signal,
      maxDepth: depth,
      ignoredPaths,
      async visit(entry) {
        if (lines.length === maxShown) return false;
        lines.push(await lineOf(entry));
        return true;
      },
    });
    if (lines.length === 0) return `${start.shown} is empty.`;
    const note = end === 'stopped' ? `\n[There is more: the first ${maxShown} entries are shown.]` : walkNote(end);
    return lines.join('\n') + note;
  },
});

async function lineOf({ path, name, kind, isIgnored, folder }: TreeEntry): Promise<string> {
  switch (kind) {
    case 'folder':
      return `${showPath(path)}/${isIgnored ? '  (ignored by git)' : ''}`;
    case 'link':
      return `${showPath(path)}  (symbolic link to ${await targetIn(folder, name)})`;
    case 'other':
      return `${showPath(path)}  (not a regular file)`;
    case 'file':
      return `${showPath(path)}  ${sizeText((await statIn(folder, name))?.size ?? 0)}`;
  }
}
