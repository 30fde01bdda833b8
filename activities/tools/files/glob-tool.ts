import { z } from 'zod';
import { parseAgentPath, showPath } from './agent-path.ts';
import { defineTool } from '../define-tool.ts';
import { compileGlob } from './glob-pattern.ts';
import { ignoredNote, walkNote, walkTree } from './walk-tree.ts';

const maxShown = 1_000;

const inputSchema = z.object({
  pattern: z
    .string()
    .min(1)
    .describe('Glob such as "**/*.ts", "docs/**/*.{md,mdx}" or "README*" (without a slash: at any depth)'),
  path: z.string().default('.').describe('Folder to look in; the pattern is relative to it (default: the root)'),
});

export const globTool = defineTool({
  description:
    'Finds files by a glob. Lists one path per line, relative to the root of the repository. What git ignores is left out unless path names it.',
  inputSchema,
  isReadOnly: true,
  async run({ pattern, path }, { root, signal, ignoredPaths }) {
    const start = parseAgentPath(path);
    const fits = compileGlob(pattern);
    const prefix = start.parts.length === 0 ? 0 : start.parts.join('/').length + 1;
    const found: string[] = [];
    const ignored: string[] = [];
    const end = await walkTree({
      root,
      start,
      signal,
      ignoredPaths,
      async visit(entry) {
        if (entry.isIgnored) {
          ignored.push(entry.path);
          return true;
        }
        if (entry.kind === 'folder' || !fits(entry.path.slice(prefix))) return true;
        if (found.length === maxShown) return false;
        found.push(showPath(entry.path));
        return true;
      },
    });
    if (found.length === 0) return `No file matches ${pattern}.${ignoredNote(ignored)}${walkNote(end)}`;
    const note = end === 'stopped' ? `\n[There are more: the first ${maxShown} are shown.]` : walkNote(end);
    return found.join('\n') + note;
  },
});
