import type { JobReport, StepReport, TurnReplay, TurnReport } from '../../worker/replay/job-report.ts';
import { repositoryUrl } from '../../lib/inputs/repository.ts';
import { print, printTable, shortened, subjectOf } from '../commands/output.ts';

const maxCellLength = 44;

/** Prints a job for a person: the steps of each turn, whether its history still replays, and its outcome. */
export function printJobReport({ job, turns }: JobReport, name: string): void {
  print(`${job.id}  ${job.status}  ${job.model}`);
  print(
    `${repositoryUrl(job.repository)} at ${job.baseCommit?.slice(0, 12) ?? '?'} (${job.baseBranch ?? job.requestedRef ?? '?'})`,
  );
  if (job.prLink !== null) print(job.prLink);
  if (job.forkedFrom !== null) {
    const { jobId, turn, step } = job.forkedFrom;
    print(`forked from ${jobId} at turn ${turn}, step ${step}`);
  }
  for (const turn of turns) printTurn(turn, name);
}

function printTurn(turn: TurnReport, name: string): void {
  const { steps, failure } = turn;
  const seconds = turn.endedAt === null ? null : Date.parse(turn.endedAt) - Date.parse(turn.startedAt);
  print(
    `\nTurn ${turn.turn}, ${turn.isCopied ? 'copied' : turn.status}${seconds === null ? '' : ` after ${timeText(seconds)}`}`,
  );
  print(`  prompt: ${shortened(turn.prompt, 160)}`);
  for (const line of replayLines(turn.replay)) print(`  ${line}`);
  if (steps.length > 0) {
    printTable(
      ['step', 'tool calls', 'result', 'files', 'model', 'tools', 'waiting', 'tokens', 'cost', 'attempts'],
      steps.map(cellsOf),
    );
    printSum(steps);
  }
  for (const { step, lastFailures } of steps)
    for (const reason of lastFailures) print(`  step ${step} was retried: ${shortened(reason, 160)}`);
  if (failure === null) {
    if (turn.message !== null) print(`\n${indented(turn.message)}`);
    return;
  }
  print(`\n  Failed: ${failure.title} (${failure.category})`);
  if (failure.message !== null) print(indented(failure.message));
  print(`  What to do: ${failure.remedy}`);
  const last = steps.findLast(({ toolResults }) => toolResults !== null);
  const at = steps.at(-1);
  if (at !== undefined) print(`  Look closer: docket job replay ${name} --turn ${turn.turn} --step ${at.step}`);
  if (last !== undefined && !name.includes('/') && !name.includes('.'))
    print(`  Retry from there: docket job fork ${name} --turn ${turn.turn} --step ${last.step}`);
}

function replayLines(replay: TurnReplay): string[] {
  if (replay.verdict === null) return [`history: ${replay.reason}`];
  const { verdict, runs } = replay;
  if (verdict.matches) {
    const inRuns = runs === 1 ? '' : ` in ${runs} runs`;
    return [`history: ${verdict.events} events${inRuns}; today's workflow code makes the same decisions`];
  }
  const events = verdict.events.map(
    ({ id, type, subject }) => `event ${id} (${type}${subject === null ? '' : ` ${subject}`})`,
  );
  return [
    `history: today's workflow code no longer matches it, starting at ${events.join(', ')}${runs === 1 ? '' : ` of run ${verdict.run}`}`,
    `         ${verdict.problem}`,
    ...(replay.buildIds.length === 0 ? [] : [`         it was made by ${replay.buildIds.join(', ')}`]),
  ];
}

function cellsOf(report: StepReport): string[] {
  const { step, toolCalls, toolResults, files, isCopied, attempts } = report;
  const calls = toolCalls.map(({ toolName, input }) => `${toolName} ${subjectOf(input)}`.trim());
  const action = calls.length > 0 ? calls.join('; ') : report.text;
  return [
    String(step),
    shortened(report.said.length > 0 ? `(read a message) ${action}` : action, maxCellLength),
    shortened(answerText(toolResults, toolCalls.length), maxCellLength),
    shortened(files.map(({ path, change }) => `${change.charAt(0).toUpperCase()} ${path}`).join(', '), maxCellLength),
    timeText(report.modelMs),
    timeText(report.toolsMs),
    timeText(report.waitingMs),
    `${report.inputTokens}+${report.outputTokens}`,
    costText(report.costMicros),
    isCopied ? 'copied' : String(attempts || '-'),
  ];
}

function answerText(results: StepReport['toolResults'], calls: number): string {
  if (calls === 0) return '-';
  if (results === null) return 'not run';
  const failed = results.filter(({ isError }) => isError);
  if (failed.length === 0) return 'ok';
  return `${failed.length} of ${results.length} failed: ${failed[0]?.output ?? ''}`;
}

function printSum(steps: readonly StepReport[]): void {
  const sum = (value: (step: StepReport) => number | null) =>
    steps.reduce((total, step) => total + (value(step) ?? 0), 0);
  // counts like the job itself: a call that was never answered is not a step
  const answered = steps.filter(({ finishReason }) => finishReason !== null);
  const isPriced = answered.every(({ costMicros }) => costMicros !== null);
  const parts = [
    `${answered.length} ${answered.length === 1 ? 'step' : 'steps'}`,
    `${sum(({ inputTokens }) => inputTokens)} tokens in and ${sum(({ outputTokens }) => outputTokens)} out`,
    isPriced ? costText(sum(({ costMicros }) => costMicros)) : 'at an unknown price',
    `model ${timeText(sum(({ modelMs }) => modelMs))}, tools ${timeText(sum(({ toolsMs }) => toolsMs))}, waiting ${timeText(sum(({ waitingMs }) => waitingMs))}`,
  ];
  print(`  ${parts.join('; ')}`);
}

const maxMessageLength = 4_000;

/** Indents each line of a text and truncates it to `maxMessageLength`. */
function indented(text: string): string {
  const shown = text.length <= maxMessageLength ? text : `${text.slice(0, maxMessageLength)}…`;
  return shown.trim().replaceAll(/^(?=.)/gm, '  ');
}

export function timeText(milliseconds: number | null): string {
  if (milliseconds === null) return '-';
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Formats millionths of a US dollar as dollars. */
export function costText(micros: number | null): string {
  return micros === null ? '-' : `$${(micros / 1e6).toFixed(4)}`;
}
