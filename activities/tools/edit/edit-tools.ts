import { z } from 'zod';
import type { ToolContext } from '../agent-tool.ts';
import { defineTool } from '../define-tool.ts';
import { parseAgentPath, type AgentPath } from '../files/agent-path.ts';
import { openFolder } from '../files/beneath.ts';
import { workOnFile } from '../files/file-work.ts';
import { leftOutNote, putFile, readIn, splitPath } from '../files/files.ts';
import type { Edit } from './apply-edit.ts';
import { checkEtag, etagSchema, keepEtag } from './etag.ts';
import { checkNoPointer } from './lfs-pointer.ts';

const maxEditCharacters = 500_000;
const textSchema = z
  .string()
  .max(maxEditCharacters)
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'contains a NUL or an unpaired surrogate');

const editSchema = z.object({
  old: textSchema.describe(
    'The text to replace, copied from the file without line numbers; it must match exactly once, so include a few lines around the change',
  ),
  new: textSchema.describe('The replacement; empty to delete'),
  replaceAll: z.boolean().optional().describe('Replace every place where old stands (default false)'),
});
const pathSchema = z.string().describe('File, relative to the root of the repository');

const rules =
  'The file keeps its line endings, byte order mark and final newline. If old is not found exactly, line ' +
  'endings, trailing whitespace, a uniform shift of the indentation and typographic punctuation may differ; the answer says so.';

export const editTool = defineTool({
  description: `Replaces text in a file. ${rules}`,
  inputSchema: z.object({ path: pathSchema, ...editSchema.shape, etag: etagSchema.optional() }),
  isReadOnly: false,
  async run({ path, etag, ...edit }, context) {
    return changeFile(context, { path: parseAgentPath(path), etag, edits: [edit] });
  },
});

export const multiEditTool = defineTool({
  description: `Makes several replacements in one file, in the given order, all of them or none. ${rules}`,
  inputSchema: z.object({
    path: pathSchema,
    edits: z.array(editSchema).min(1).max(100).describe('The replacements; each sees the result of those before it'),
    etag: etagSchema.optional(),
  }),
  isReadOnly: false,
  async run({ path, etag, edits }, context) {
    return changeFile(context, { path: parseAgentPath(path), etag, edits });
  },
});

async function changeFile(
  { root, signal, ...context }: ToolContext,
  { path, etag, edits }: { path: AgentPath; etag: string | undefined; edits: Edit[] },
): Promise<string> {
  const { parent, name } = splitPath(path);
  await using folder = await openFolder(root, parent);
  const { bytes, stat } = await readIn(folder, name, path.shown);
  checkEtag({ shown: path.shown, etag, bytes }, context);
  checkNoPointer(path.shown, bytes);
  const task = { path: path.parts.join('/'), bytes, edits };
  const length = edits.reduce((sum, edit) => sum + edit.old.length + edit.new.length, bytes.length);
  const edited = await workOnFile('edit', task, { length, signal });
  await putFile(folder, { name, shown: path.shown, bytes: edited.bytes, replaces: stat });
  keepEtag({ etag, bytes: edited.bytes }, context);
  return `${edited.answer}${await leftOutNote(path, context)}`;
}
