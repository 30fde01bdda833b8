import { z } from 'zod';
import { parseAgentPath } from './agent-path.ts';
import { openFolder, statIn } from './beneath.ts';
import { absenceOf } from '../tool-problem.ts';
import { defineTool } from '../define-tool.ts';
import { checkEtag, etagSchema, keepEtag } from '../edit/etag.ts';
import { checkNoPointer } from '../edit/lfs-pointer.ts';
import { workOnFile } from './file-work.ts';
import { leftOutNote, putFile, readIn, splitPath } from './files.ts';

const inputSchema = z.object({
  path: z.string().describe('File, relative to the root of the repository; missing folders are created'),
  content: z
    .string()
    .refine((content) => content.isWellFormed() && !content.includes('\0'), 'contains a NUL or an unpaired surrogate')
    .describe('The whole content of the file'),
  etag: etagSchema.optional(),
});

export const writeTool = defineTool({
  description:
    'Writes a whole file, new or replacing an existing one. Use edit to change part of a file. A file keeps its CRLF ' +
    'line endings, final newline, byte order mark and encoding.',
  inputSchema,
  isReadOnly: false,
  async run({ path, content, etag }, { root, signal, ...context }) {
    const target = parseAgentPath(path);
    const { shown } = target;
    const { parent, name } = splitPath(target);
    // the model copied this path from a listing; a new file would not be the file that it means
    const isNew = !shown.includes('\uFFFD');
    await using folder = await openFolder(root, parent, { create: isNew });
    const before = (await statIn(folder, name)) === null ? null : await readIn(folder, name, shown);
    if (before === null && !isNew) throw absenceOf(shown);
    checkEtag({ shown, etag, bytes: before?.bytes ?? null }, context);
    if (before !== null) checkNoPointer(shown, before.bytes);
    const task = { path: target.parts.join('/'), before: before?.bytes ?? null, content };
    const length = content.length + (before?.bytes.length ?? 0);
    const { bytes, answer } = await workOnFile('replace', task, { length, signal });
    if (bytes !== null) {
      await putFile(folder, { name, shown, bytes, replaces: before?.stat ?? null });
      keepEtag({ etag, bytes }, context);
    }
    return `${answer}${await leftOutNote(target, context)}`;
  },
});
