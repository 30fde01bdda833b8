import { parseAgentPath, type AgentPath } from '../files/agent-path.ts';
import { ToolProblem } from '../tool-problem.ts';
import { applyEdit, type Change, type Edit } from './apply-edit.ts';
import { changedLines, changeText, failureSentence } from './edit-answers.ts';
import type { Stage } from './match-ladder.ts';
import { parseNote } from './parse-note.ts';
import { decodeText, encodeText, etagOf, foreignCharacter, type TextFile } from './text-file.ts';

export interface EditTask {
  path: string;
  bytes: Uint8Array;
  edits: Edit[];
}

/** The bytes of the edited file, with the answer for the model. */
export interface EditedFile {
  bytes: Uint8Array;
  answer: string;
}

/** Applies the edits of one call, all or none. Pure: for a large file it takes seconds, in a thread. */
export function editFile({ path, bytes, edits }: EditTask): EditedFile | { problem: string } {
  try {
    return edited(parseAgentPath(path), Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), edits);
  } catch (error) {
    if (error instanceof ToolProblem) return { problem: error.message };
    throw error;
  }
}

function edited(path: AgentPath, before: Buffer, edits: Edit[]): EditedFile {
  const file = decodeText(before);
  if (file === null) throw new ToolProblem(`${path.shown} is a binary file, which cannot be edited.`);
  const { text, applied } = applyAll(path, file, edits);
  const bytes = encodeText(text, file);
  const heading = applied.map((edit, index) =>
    applied.length === 1 ? changeText(edit) : `\n${index + 1}. ${changeText(edit)}`,
  );
  const note = parseNote(path, { before: file.text, after: text });
  // Line numbers of an earlier edit change once a later one adds lines, so only a single edit is shown.
  const [only] = applied;
  const excerpt = only !== undefined && applied.length === 1 ? `\n${changedLines(text, only.changes)}` : '';
  return { bytes, answer: `Edited ${path.shown}: ${heading.join('')}. etag ${etagOf(bytes)}${excerpt}${note}` };
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

function checkEncoding(path: AgentPath, file: TextFile, edit: Edit): void {
  const foreign = foreignCharacter(file, edit.new);
  if (foreign === null) return;
  throw new ToolProblem(`${path.shown} is not UTF-8 and cannot hold the character "${foreign}". Nothing was changed.`);
}

function stoppedAt(applied: Applied[], edits: Edit[]): string {
  const fitting = applied.map((edit, index) => `edit ${index + 1} fits ${changeText(edit)}`);
  const before = fitting.length === 0 ? '' : ` (${fitting.join('; ')})`;
  return `Nothing was changed: edit ${applied.length + 1} of ${edits.length} failed${before}.`;
}
