import { CommandError } from '../command-error.ts';
import { answerOf, type Api } from '../http/api.ts';
import { followJob, type JobEvent } from '../http/events.ts';
import { asOneLine } from '../../lib/redaction/log-line.ts';
import { print, shortened, subjectOf } from './output.ts';

export type AgentJob = Awaited<ReturnType<typeof getJob>>;
export interface JobRef {
  projectId: string;
  id: string;
}

/** Exit codes for jobs that did not complete; see docs/cli.md. */
const failed = 3;
const cancelled = 4;
const waiting = 5;

export function getJob(api: Api, path: JobRef) {
  return answerOf(api.GET('/v2/agent/{projectId}/job/{id}', { params: { path } }));
}

/**
 * Prints the events of a job as they arrive, then its outcome; the last line is the URL of its pull request. With
 * `json`, each line is an event and the last one is the job. Throws CommandError when the job did not complete, or waits for
 * a person.
 */
export async function watchJob(api: Api, ref: JobRef, { json, after }: { json: boolean; after?: number }) {
  const report = json ? (event: JobEvent) => print(JSON.stringify(event)) : createReporter();
  let last = after ?? 0;
  for (;;) {
    const onLost = () => console.error('The connection was lost; reconnecting.');
    for await (const event of followJob(api, ref, { after: last, onLost })) {
      last = event.seq;
      report(event);
      if (event.type !== 'waiting') continue;
      const job = await getJob(api, ref);
      // otherwise a person has decided since, and the events continue
      if (job.details.waiting?.turn === event.turn) return printWait(job, json);
    }
    const job = await getJob(api, ref);
    // a follow-up may have started in the meantime
    if (job.status !== 'active') return printEnd(job, json);
  }
}

type Waiting = NonNullable<AgentJob['details']['waiting']>;

/** Returns what a job waits for: the approval of its plan, or the answer to a question. */
export function waitsFor({ for: what, question, choices }: Waiting): string {
  if (what === 'approval') return 'the approval of its plan';
  return `an answer: ${question}${choices.length === 0 ? '' : ` (${choices.join(', ')})`}`;
}

function printWait(job: AgentJob, json: boolean): void {
  const { plan, waiting: wait } = job.details;
  if (wait === null) return;
  if (json) print(JSON.stringify(job));
  else if (wait.for === 'approval' && plan !== null) print(`\n${plan}`);
  const next = (wait.for === 'approval' ? [`approve ${job.id}`, `reject ${job.id}`] : [`message ${job.id} ANSWER`])
    .map((action) => `"docket job ${action} --turn ${wait.turn}"`)
    .join(' or ');
  throw new CommandError(`The job waits for ${waitsFor(wait)}. Continue with ${next}.`, { exitCode: waiting });
}

function printEnd(job: AgentJob, json: boolean): void {
  const { message, incomplete, failure } = job.details;
  if (json) print(JSON.stringify(job));
  else {
    if (message !== null) print(`\n${message}`);
    if (incomplete !== null) print(`\nIncomplete: ${incomplete}`);
    if (failure === null && job.prLink === null) print('\nNothing was changed.');
    if (job.prLink !== null) print(`\n${job.prLink}`);
  }
  if (failure === null) return;
  const exitCode = failure.category === 'cancelled' ? cancelled : failed;
  throw new CommandError(`${failure.title}. ${failure.remedy}`, { exitCode });
}

/** Returns a reporter that prints one line per event a person cares about, and the model's text once it is complete. */
function createReporter(): (event: JobEvent) => void {
  let words = '';
  return ({ type, step, createdAt, data }) => {
    const at = new Date(createdAt).toTimeString().slice(0, 8);
    const line = (text: string) => print(asOneLine(`${at}  ${text}`));
    const { text = '', attempt = 1, toolName = '', output = '' } = data;
    switch (type) {
      case 'message':
        return line(`prompt: ${shortened(text, 160)}`);
      case 'phase':
        return line(data.phase ?? '');
      case 'step-start':
        words = '';
        return attempt > 1 ? line(`step ${step}: attempt ${attempt}`) : undefined;
      case 'text':
        words += text;
        return;
      case 'tool-call':
        return line(`step ${step}: ${toolName} ${subjectOf(data.input)}`.trimEnd());
      case 'tool-result':
        return data.isError === true ? line(`step ${step}: ${toolName} failed: ${shortened(output, 160)}`) : undefined;
      case 'usage':
        return words.trim() === '' ? undefined : line(`step ${step}: ${shortened(words, 400)}`);
      case 'diff':
        return line(
          `${data.changedFiles} ${data.changedFiles === 1 ? 'file' : 'files'} changed, +${data.additions} -${data.deletions}`,
        );
      case 'notice':
        return line(text);
      default:
        return;
    }
  };
}
