import type { Stats } from 'node:fs';
import { z } from 'zod';
import { parseAgentPath, type AgentPath } from '../files/agent-path.ts';
import { applyEdit, type Change, type Edit } from './apply-edit.ts';
import type { Stage } from './match-ladder.ts';
import { openFolder, type Folder } from '../files/beneath.ts';
import { defineTool } from '../define-tool.ts';
import { changedLines, changeText, failureSentence } from './edit-answers.ts';
import { checkEtag, etagSchema } from './etag.ts';
import { putFile, readIn, splitPath } from '../files/files.ts';
import { parseNote } from './parse-note.ts';
import { decodeText, encodeText, etagOf, type TextFile } from './text-file.ts';
import { ToolProblem } from '../tool-problem.ts';

const MAX_EDIT_CHARACTERS = 500_000;
const textSchema = z
  .string()
  .max(MAX_EDIT_CHARACTERS)
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'holds a NUL or half a character');

const editSchema = z.object({
  old: textSchema.describe(
    'The text to replace, copied from the file without line numbers; it must match exactly once, so include a few lines around the change',
  ),
  new: textSchema.describe('The replacement; empty to delete'),
  replaceAll: z.boolean().optional().describe('Replace every place where old stands (default false)'),
});
const pathSchema = z.string().describe('File, relative to the root of the repository');

const RULES =
  'The file keeps its line endings, byte order mark and final newline. If old is not found exactly, line ' +
  'endings, trailing whitespace, a uniform shift of the indentation and typographic punctuation may differ; the answer says so.';

export const editTool = defineTool({
  description: `Replaces text in a file. ${RULES}`,
  inputSchema: z.object({ path: pathSchema, ...editSchema.shape, etag: etagSchema.optional() }),
  isReadOnly: false,
  async run({ path, etag, ...edit }, { root }) {
    return changeFile(root, { path: parseAgentPath(path), etag, edits: [edit] });
  },
});

export const multiEditTool = defineTool({
  description: `Makes several replacements in one file, in the given order, all of them or none. ${RULES}`,
  inputSchema: z.object({
    path: pathSchema,
    edits: z.array(editSchema).min(1).max(100).describe('The replacements; each sees the result of those before it'),
    etag: etagSchema.optional(),
  }),
  isReadOnly: false,
  async run({ path, etag, edits }, { root }) {
    return changeFile(root, { path: parseAgentPath(path), etag, edits });
  },
});

interface OpenedText {
  folder: Folder;
  name: string;
  stat: Stats;
  file: TextFile;
}

async function changeFile(
  root: string,
  { path, etag, edits }: { path: AgentPath; etag: string | undefined; edits: Edit[] },
): Promise<string> {
  const { parent, name } = splitPath(path);
  await using folder = await openFolder(root, parent);
  const { bytes, stat } = await readIn(folder, name, path.shown);
  checkEtag({ shown: path.shown, etag, bytes });
  const file = decodeText(bytes);
  if (file === null) throw new ToolProblem(`${path.shown} is a binary file, which cannot be edited.`);
  const { text, applied } = applyAll(path, file, edits);
  // Awaited here: the folder is closed on the way out.
  return await replaceText(path, { folder, name, stat, file }, { text, applied });
}

interface Applied {
  stage: Stage;
  changes: Change[];
}

function applyAll(path: AgentPath, file: TextFile, edits: Edit[]): { text: string; applied: Applied[] } {
  let { text } = file;
  const applied: Applied[] = [];
  for (const edit of edits) {
    checkEncoding(path, file, edit);
    const result = applyEdit(text, edit);
    if ('failure' in result) {
      const sentence = failureSentence(path, { text, edit, failure: result.failure });
      throw new ToolProblem(edits.length === 1 ? sentence : `${stoppedAt(applied, edits)} ${sentence}`);
    }
    text = result.text;
    applied.push(result);
  }
  if (text === file.text) throw new ToolProblem(`The edits together leave ${path.shown} as it is.`);
  return { text, applied };
}

async function replaceText(
  path: AgentPath,
  opened: OpenedText,
  { text, applied }: { text: string; applied: Applied[] },
) {
  const { folder, name, stat, file } = opened;
  const bytes = encodeText(text, file);
  await putFile(folder, { name, shown: path.shown, bytes, replaces: stat });
  const heading = applied.map((edit, index) =>
    applied.length === 1 ? changeText(edit) : `\n${index + 1}. ${changeText(edit)}`,
  );
  const note = parseNote(path, { before: file.text, after: text });
  // Line numbers of an earlier edit are off as soon as a later one adds lines: only a single edit is shown.
  const [only] = applied;
  const excerpt = only !== undefined && applied.length === 1 ? `\n${changedLines(text, only.changes)}` : '';
  return `Edited ${path.shown}: ${heading.join('')}. etag ${etagOf(bytes)}${excerpt}${note}`;
}

/** A file that is not UTF-8 only takes characters that stand for the same byte in every such encoding, or its own. */
function checkEncoding(path: AgentPath, file: TextFile, edit: Edit): void {
  if (file.encoding === 'utf8') return;
  const foreign = [...edit.new].find((character) => character > '\u007f' && !file.text.includes(character));
  if (foreign === undefined) return;
  throw new ToolProblem(`${path.shown} is not UTF-8 and cannot hold the character "${foreign}". Nothing was changed.`);
}

function stoppedAt(applied: Applied[], edits: Edit[]): string {
  const fitting = applied.map((edit, index) => `edit ${index + 1} fits ${changeText(edit)}`);
  const before = fitting.length === 0 ? '' : ` (${fitting.join('; ')})`;
  return `Nothing was changed: edit ${applied.length + 1} of ${edits.length} failed${before}.`;
}
