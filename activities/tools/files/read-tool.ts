import { z } from 'zod';
import { runInThread } from '../../../lib/threads/run-in-thread.ts';
import { defineTool } from '../define-tool.ts';
import { ToolProblem } from '../tool-problem.ts';
import { parseAgentPath } from './agent-path.ts';
import { readThroughLinks } from './files.ts';
import { mostLines, showFile, type ShowTask } from './show-file.ts';

/** Lines of a larger file would hold the event loop while they are counted. */
const largestInline = 256 * 1024;

const inputSchema = z.object({
  path: z.string().describe('File, relative to the root of the repository, e.g. "src/main.ts"'),
  offset: z.int().min(1).optional().describe('First line to show, from 1 (default 1)'),
  limit: z.int().min(1).optional().describe(`Number of lines to show (at most and by default ${mostLines})`),
});

export const readTool = defineTool({
  description:
    'Reads a text file. The first line names its size, etag, line endings and whether it has tabs; each line after it ' +
    'is a line number, a bar, and the exact text of the file. Pass the etag to edit or write to make sure ' +
    'that the file has not changed since.',
  inputSchema,
  isReadOnly: true,
  async run({ path, offset = 1, limit = mostLines }, { root, signal }) {
    const target = parseAgentPath(path);
    const bytes = await readThroughLinks(root, target);
    const data = { shown: target.shown, bytes, offset, limit };
    const script = new URL('./show-thread.ts', import.meta.url);
    const shown =
      bytes.length > largestInline
        ? await runInThread<ShowTask, ReturnType<typeof showFile>>({ script, data, signal })
        : showFile(data);
    if ('problem' in shown) throw new ToolProblem(shown.problem);
    return shown.text;
  },
});
