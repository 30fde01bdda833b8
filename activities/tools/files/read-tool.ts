import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { parseAgentPath } from './agent-path.ts';
import { readThroughLinks } from './files.ts';
import { workOnFile } from './file-work.ts';
import { describeImage, readImage, type ReadImage } from '../../../lib/images/image.ts';
import type { ShowImage } from '../agent-tool.ts';
import { sizeText } from '../tool-output.ts';
import { ToolProblem } from '../tool-problem.ts';
import { maxLines } from './show-file.ts';

const inputSchema = z.object({
  path: z.string().describe('File, relative to the root of the repository, e.g. "src/main.ts"'),
  offset: z.int().min(1).optional().describe('First line to show, from 1 (default 1)'),
  limit: z.int().min(1).optional().describe(`Number of lines to show (at most and by default ${maxLines})`),
});

export const readTool = defineTool({
  description:
    'Reads a text file, or shows an image (PNG, JPEG, GIF, WebP). Of a text file, the first line names its size, etag, line endings and whether it has tabs; each line after it ' +
    'is a line number, a bar, and the exact text of the file. Pass the etag to edit or write to make sure ' +
    'that the file has not changed since.',
  inputSchema,
  isReadOnly: true,
  async run({ path, offset = 1, limit = maxLines }, { root, signal, showImage }) {
    const target = parseAgentPath(path);
    const bytes = await readThroughLinks(root, target);
    const read = readImage(bytes);
    if ('image' in read || read.kind !== null) return shownImage(read, { shown: target.shown, showImage });
    const task = { shown: target.shown, bytes, offset, limit };
    return (await workOnFile('show', task, { length: bytes.length, signal })).text;
  },
});

async function shownImage(read: ReadImage, { shown, showImage }: { shown: string; showImage: ShowImage | undefined }) {
  if ('problem' in read) throw new ToolProblem(`${shown} is an image that cannot be shown: it ${read.problem}.`);
  const { image } = read;
  const what = `${shown} is an image (${describeImage(image)}, ${sizeText(image.bytes.length)})`;
  if (showImage === undefined) throw new ToolProblem(`${what}, and the model of this job cannot see images.`);
  const ref = await showImage({ ...image, name: shown.slice(0, 200) });
  if (ref === null) throw new ToolProblem(`${what}. It is not shown, because the job has its most images already.`);
  return { text: `${what}. It follows.`, image: ref };
}
