import { z } from 'zod';
import { parseAgentPath, showPath } from './agent-path.ts';
import { defineTool } from '../define-tool.ts';
import { compileGlob } from './glob-pattern.ts';
import { walkNote, walkTree } from './walk-tree.ts';

const maxShown = 1_000;

const inputSchema = z.object({
  pattern: z
    .string()
    .min(1)
    .describe('Glob such as "**/*.ts", "docs/**/*.{md,mdx}" or "README*" (without a slash: at any depth)'),
  path: z.string().default('.').describe('Folder to look in; the pattern is relative to it (default: the root)'),
});

export const globTool = defineTool({
  description: 'Finds files by a glob. Lists one path per line, relative to the root of the repository.',
  inputSchema,
  isReadOnly: true,
  async run({ pattern, path }, { root, signal }) {
    const start = parseAgentPath(path);
    const fits = compileGlob(pattern);
    const prefix = start.parts.length === 0 ? 0 : start.parts.join('/').length + 1;
    const found: string[] = [];
    const end = await walkTree({
      root,
      start,
      signal,
      async visit(entry) {
        if (entry.kind === 'folder' || !fits(entry.path.slice(prefix))) return true;
        if (found.length === maxShown) return false;
        found.push(showPath(entry.path));
        return true;
      },
    });
    if (found.length === 0) return `No file matches ${pattern}.${walkNote(end)}`;
    const note = end === 'stopped' ? `\n[There are more: the first ${maxShown} are shown.]` : walkNote(end);
    return found.join('\n') + note;
  },
});
