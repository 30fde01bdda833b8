import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { parseAgentPath } from './agent-path.ts';
import { readThroughLinks } from './files.ts';
import { workOnFile } from './file-work.ts';
import { mostLines } from './show-file.ts';

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
    const task = { shown: target.shown, bytes, offset, limit };
    return (await workOnFile('show', task, { length: bytes.length, signal })).text;
  },
});
