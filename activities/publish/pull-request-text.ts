import type { StepRow } from '../../db/for-worker/steps.ts';
import type { JobCheck } from '../../db/jobs/agent-job.ts';
import type { TurnRef } from '../../workflows/contract/job.ts';
import { finishCallOf, isDone } from '../tools/toolset.ts';
import { withoutMarks } from './forge-orders.ts';
import { cutMarkdown, inactiveMarkdown, inactiveWords, withoutCommands } from './inactive-text.ts';

export interface Summary {
  /** Null when the agent ended without a title for its change. */
  title: string | null;
  message: string;
  /** False when the agent reports part of the task as incomplete, or was forced to end and did not report all as done. */
  isComplete: boolean;
  /** Findings of the agent’s review that it left open. */
  findings?: string;
}

const maxTitle = 100;
const maxPrompt = 4_000;
const maxMessage = 20_000;
const maxCheckText = 6_000;
const maxSlug = 40;
/** Maximum number of follow-ups in a description; the newest are included. */
const maxFollowUps = 5;
/** Maximum length of a description before its marker. GitHub refuses more than 65,536 characters. */
const maxBody = 60_000;
const cutNote = '\n\n…';

/**
 * Returns the agent's summary of its work: the finish call of the turn's last step, or its final text. `step` is the
 * last step with an answer, `wasForced` whether a limit allowed it no call but `finish`.
 */
export function summaryOf(step: StepRow | null, wasForced = false): Summary {
  const response = step?.response;
  if (response === null || response === undefined) return { title: null, message: '', isComplete: true };
  const finish = finishCallOf(response.toolCalls.filter((call) => call.invalid === undefined));
  if (finish === null)
    return { title: null, message: capped(response.text.trim(), maxMessage), isComplete: !wasForced };
  const checked = finish.checked === undefined ? '' : `**Checked:** ${finish.checked.trim()}`;
  const message = [finish.summary.trim(), checked].filter((part) => part !== '').join('\n\n');
  return {
    title: titleOf(finish.title),
    message: capped(message, maxMessage),
    isComplete: isDone(finish, wasForced),
    ...(finish.findings === undefined ? {} : { findings: finish.findings.trim() }),
  };
}

/** Returns a single-line title; derived from the prompt when the agent provided none. */
export function titleOf(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  return capped(line === '' ? 'Changes by an agent' : line, maxTitle);
}

/**
 * Returns a new branch name for a job. Stable across attempts, because it derives from the turn and the agent's title.
 */
export function branchOf({ jobId, turn }: TurnRef, title: string): string {
  const slug = title
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxSlug)
    .replaceAll(/^-+|(?<!-)-+$/g, '');
  const name = turn === 1 ? jobId : `${jobId}-${turn}`;
  return `docket/${name}-${slug === '' ? 'change' : slug}`;
}

export interface ChangeText {
  jobId: string;
  title: string;
  /** Prompts so far, oldest first. */
  prompts: string[];
  message: string;
  /** Findings of the agent’s review that it left open. */
  findings?: string;
  /** Description of how the change was checked, in Markdown; null if unknown. */
  checked?: string | null;
  /** Why the work is incomplete; null when it is complete. */
  unfinished: string | null;
  /** Model that did the work, credited as co-author of the commit. */
  model?: string;
  /** The repository's own pull request template. */
  template?: string | null;
}

/** Returns the commit message; one of its trailers identifies the job. */
export function commitMessageOf({ jobId, title, message, unfinished, model }: ChangeText): string {
  const coAuthor = model === undefined ? [] : [`Co-authored-by: ${titleOf(model)} <docket@noreply.invalid>`];
  const trailers = [...coAuthor, `Agent-Job: ${jobId}`].join('\n');
  return (
    [...[title, unfinished === null ? '' : `Unfinished: ${unfinished}`, message].map(inactiveWords), trailers]
      .filter((part) => part !== '')
      .join('\n\n') + '\n'
  );
}

/**
 * Returns the pull request description. Its marker is a second key to the job, so no other text may look like it. A
 * description that is too long loses the oldest follow-ups first, then its end.
 */
export function bodyOf(text: ChangeText): string {
  let followUps = text.prompts.slice(1).slice(-maxFollowUps);
  let shown = textOf(text, followUps);
  while (shown.length > maxBody && followUps.length > 0) {
    followUps = followUps.slice(1);
    shown = textOf(text, followUps);
  }
  if (shown.length > maxBody) shown = cutMarkdown(shown, maxBody - cutNote.length) + cutNote;
  return `${shown}\n\n<!-- docket-job: ${text.jobId} -->`;
}

function textOf(
  { prompts: [task = ''], message, findings = '', checked, unfinished, template }: ChangeText,
  followUps: string[],
): string {
  const parts = [
    ...(unfinished === null ? [] : [`> [!WARNING]\n> The work is not finished. ${inactiveMarkdown(unfinished)}`]),
    '## Task',
    quoted(task),
    ...followUps.flatMap((prompt) => ['## Follow-up', quoted(prompt)]),
    '## Change',
    message === '' ? 'The agent wrote no summary.' : inactiveMarkdown(message),
    ...(findings === '' ? [] : ['## Self-review', inactiveMarkdown(findings)]),
    ...(checked == null ? [] : ['## Checked', withoutComments(checked)]),
    ...templatePart(template ?? ''),
  ];
  return withoutCommands(withoutMarks(parts.join('\n\n')));
}

/** Leaves the template's questions to people, and drops its comments, which are hints for human authors. */
function templatePart(template: string): string[] {
  const text = withoutComments(template.replaceAll(/<!--.*?(?:-->|$)/gs, '')).trim();
  return text === '' ? [] : ['---', text];
}

/** Returns why the work is incomplete, with the result of its check; null when it is complete. */
export function incompleteOf(unfinished: string | null, check: JobCheck | null): string | null {
  const isChecked = check === null || check.result === 'passed';
  const ofCheck = check?.result === 'failed' ? 'did not pass' : 'was not run';
  const reasons = [unfinished, isChecked ? null : `The project's check command ${ofCheck}.`];
  const present = reasons.filter((reason) => reason !== null);
  return present.length === 0 ? null : present.join(' ');
}

/** Returns the pull request's description of its check; `reason` is why the check was not run. */
export function checkedText(
  command: string,
  result: { passed: boolean; text: string } | null,
  reason: string | null,
): string {
  const shown = fenced(capped(command, maxPrompt));
  if (result === null)
    return [`The project's check command was not run.${reason === null ? '' : ` ${reason}`}`, shown].join('\n\n');
  if (result.passed) return [`The project's check command succeeded:`, shown].join('\n\n');
  const end = result.text.length > maxCheckText ? `…${result.text.slice(-maxCheckText).toWellFormed()}` : result.text;
  return [`The project's check command did not succeed:`, shown, 'It said:', fenced(end)].join('\n\n');
}

function quoted(prompt: string): string {
  return fenced(capped(prompt.trim(), maxPrompt));
}

/** Fences text, so that it mentions no one, closes no issue and hides nothing. */
function fenced(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

function withoutComments(text: string): string {
  return text.replaceAll('<!--', '&lt;!--');
}

function capped(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text
    .slice(0, maxLength - 1)
    .toWellFormed()
    .replace(/\uFFFD$/u, '')}…`;
}
