import { runInThread } from '../../../lib/threads/run-in-thread.ts';
import { editFile, type EditedFile, type EditTask } from '../edit/edit-file.ts';
import { ToolProblem } from '../tool-problem.ts';
import { showFile, type ShownFile, type ShowTask } from './show-file.ts';
import { replaceFile, type ReplacedFile, type ReplaceTask } from './replace-file.ts';

interface Problem {
  problem: string;
}

interface Tasks {
  show: ShowTask;
  edit: EditTask;
  replace: ReplaceTask;
}

interface Answers {
  show: ShownFile;
  edit: EditedFile;
  replace: ReplacedFile;
}

const works: { [Work in keyof Tasks]: (task: Tasks[Work]) => Answers[Work] | Problem } = {
  show: showFile,
  edit: editFile,
  replace: replaceFile,
};

/** Longest text that is worked on in this thread; an edit also searches in other forms. */
const maxInlineLength: Record<keyof Tasks, number> = { show: 256 * 1024, edit: 16_000, replace: 16_000 };
/** Changed YAML is parsed, which takes much longer. */
const maxYamlLength = 2_000;

export function runInline<Work extends keyof Tasks>(work: Work, task: Tasks[Work]): Answers[Work] | Problem {
  return works[work](task);
}

/** Runs pure work on the content of a file, in a thread when it is large. Throws ToolProblem. */
export async function workOnFile<Work extends keyof Tasks>(
  work: Work,
  task: Tasks[Work],
  { length, signal }: { length: number; signal: AbortSignal },
): Promise<Answers[Work]> {
  const maxLength = 'path' in task && /\.ya?ml$/.test(task.path) ? maxYamlLength : maxInlineLength[work];
  const answer = length > maxLength ? await runApart(work, task, signal) : runInline(work, task);
  if ('problem' in answer) throw new ToolProblem(answer.problem);
  return answer;
}

function runApart<Work extends keyof Tasks>(
  work: Work,
  task: Tasks[Work],
  signal: AbortSignal,
): Promise<Answers[Work] | Problem> {
  const script = new URL('./file-thread.ts', import.meta.url);
  return runInThread({ script, data: { work, task }, signal });
}
