import type { ExactQuestion } from '../../worker/replay/exact-question.ts';
import type { StepReport } from '../../worker/replay/job-report.ts';
import type { ChangedFile } from '../../worker/replay/patch-files.ts';
import { costText, timeText } from './print-job.ts';
import { print } from '../commands/output.ts';

export interface ShownStep {
  jobId: string;
  report: StepReport;
  question: ExactQuestion;
  /** Null when the step changed nothing, or its change was not stored. */
  diff: { files: ChangedFile[]; patch: string } | null;
}

const matches: Record<ExactQuestion['match'], string> = {
  exact: 'verified: its hash matches the one stored with the answer',
  different:
    'as today’s code would send it: its hash differs from the stored one, because the prompt or the tools have changed since, or a secret was masked',
  unknown: 'as today’s code would send it: there is no answer to compare it with',
};

/** Prints one step in full for a person. */
export function printStep({ jobId, report, question, diff }: ShownStep): void {
  const { turn, step, toolCalls, toolResults } = report;
  print(`Step ${step} of turn ${turn} of ${jobId}`);
  heading('Prompt', matches[question.match]);
  print(`model: ${question.model}\ntools: ${question.tools.join(', ')}`);
  part('system', question.system);
  for (const { name, description, inputSchema } of question.toolDefinitions)
    part(`tool ${name}`, `${description}\n${JSON.stringify(inputSchema)}`);
  for (const { role, content } of question.messages) {
    part(role, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  }
  const spent = `${report.inputTokens} tokens in, ${report.outputTokens} out, ${costText(report.costMicros)}, ${timeText(report.modelMs)}`;
  heading('Answer', report.finishReason === null ? 'not yet' : `${report.finishReason}; ${spent}`);
  if (report.text !== '') print(report.text);
  for (const { toolName, input } of toolCalls) part(toolName, JSON.stringify(input, null, 2));
  if (toolCalls.length > 0)
    heading('Tool results', toolResults === null ? 'none: the calls were not run' : timeText(report.toolsMs));
  for (const { toolName, output, isError } of toolResults ?? [])
    part(isError ? `${toolName} (error)` : toolName, output);
  if (diff === null) return heading('Change', 'none is stored');
  heading('Change', 'from the tree before the step to the one after it');
  for (const { path, change } of diff.files) print(`${change.padEnd(8)} ${path}`);
  print(`\n${diff.patch}`);
}

function heading(name: string, note: string): void {
  print(`\n== ${name} (${note})`);
}

function part(name: string, text: string): void {
  print(`-- ${name}\n${text}`);
}
