import { z } from 'zod';
import { parseAgentPath } from './agent-path.ts';
import { openFolder, statIn } from './beneath.ts';
import { defineTool } from '../define-tool.ts';
import { checkEtag, etagSchema } from '../edit/etag.ts';
import { putFile, readIn, splitPath } from './files.ts';
import { parseNote } from '../edit/parse-note.ts';
import { decodeText, encodeText, etagOf, lineEndingsOf } from '../edit/text-file.ts';
import { countText } from '../tool-output.ts';

const inputSchema = z.object({
  path: z.string().describe('File, relative to the root of the repository; missing folders are created'),
  content: z
    .string()
    .refine((content) => content.isWellFormed() && !content.includes('\0'), 'holds a NUL or half a character')
    .describe('The whole content of the file'),
  etag: etagSchema.optional(),
});

export const writeTool = defineTool({
  description:
    'Writes a whole file, new or replacing an existing one. Use edit to change part of a file. A file with CRLF line ' +
    'endings or a byte order mark keeps them.',
  inputSchema,
  isReadOnly: false,
  async run({ path, content, etag }, { root }) {
    const target = parseAgentPath(path);
    const { shown } = target;
    const { parent, name } = splitPath(target);
    await using folder = await openFolder(root, parent, { create: true });
    const before = (await statIn(folder, name)) === null ? null : await readIn(folder, name, shown);
    checkEtag({ shown, etag, bytes: before?.bytes ?? null });
    const { text, bytes } = inFormOf(before?.bytes ?? null, content);
    if (before?.bytes.equals(bytes)) return `${shown} already has exactly this content; nothing was changed.`;
    await putFile(folder, { name, shown, bytes, replaces: before?.stat ?? null });
    const lines = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
    const verb = before === null ? 'Created' : 'Replaced';
    const note = parseNote(target, { before: before === null ? null : before.bytes.toString('utf8'), after: text });
    return `${verb} ${shown} (${countText(lines, 'line')}, etag ${etagOf(bytes)}).${note}`;
  },
});

/** Content given with LF takes over the CRLF line endings and the byte order mark of the file it replaces. */
function inFormOf(before: Buffer | null, content: string): { text: string; bytes: Buffer } {
  const file = before === null ? null : decodeText(before);
  const hasBom = content.startsWith('\ufeff');
  const plain = hasBom ? content.slice(1) : content;
  const isCrlf = file !== null && lineEndingsOf(file.text) === 'CRLF' && !plain.includes('\r\n');
  const text = isCrlf ? plain.replaceAll('\n', '\r\n') : plain;
  return { text, bytes: encodeText(text, { hasBom: hasBom || file?.hasBom === true, encoding: 'utf8' }) };
}
