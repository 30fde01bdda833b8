import type { AgentJob } from '../../db/jobs/agent-job.ts';
import type { webhookEventTypes } from '../../workflows/contract/webhook.ts';

const maxTitleLength = 200;
const maxDetailLength = 500;

/** Escapes what Slack gives a special meaning, such as a mention of everybody in a channel. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Returns a text as one line of limited length. It is cut before it is escaped, so that no entity is. */
function lineOf(text: string, maxLength: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return escaped(line.length <= maxLength ? line : `${line.slice(0, maxLength - 1).toWellFormed()}…`);
}

function linkTo(address: string, label: string): string {
  return `<${escaped(address.replaceAll(/[|<>\s]/g, encodeURIComponent))}|${label}>`;
}

const verbs = {
  'job.created': 'Started',
  'job.completed': 'Completed',
  'job.failed': 'Failed',
  'job.archived': 'Archived',
  'job.unarchived': 'Unarchived',
  'job.resumed': 'Resumed',
  'job.waiting': 'Waiting',
  'pull_request.closed': 'Pull request closed',
  'pull_request.merged': 'Pull request merged',
} satisfies Record<(typeof webhookEventTypes)[number], string>;

/** Returns the line below the job's title; null for none. */
function detailOf(type: string, { failure, waiting, message }: AgentJob['details']): string | null {
  if (waiting !== null) return waiting.for === 'approval' ? 'Its plan waits for approval.' : waiting.question;
  if (type === 'job.failed') return failure?.category === 'cancelled' ? null : (failure?.title ?? null);
  return type === 'job.completed' ? message : null;
}

/** Returns a sentence with the person whom the job waits for; null when it does not wait, or that person is unknown. */
function waitsFor({ waiting }: AgentJob['details']): string | null {
  if (waiting === null || waiting.startedBy === null) return null;
  return `Waiting for ${waiting.startedBy.name ?? 'the operator'}, who started the job.`;
}

interface SlackMessage {
  type: string;
  job: AgentJob;
  /** The pull request that the message is about; absent for the job's newest one. */
  pullRequest?: { link: string | null };
  /** Address of the job's page. */
  jobUrl: string;
}

/** Returns the body of a test message. */
export function slackPing(): string {
  const text = 'Docket can post to this channel.';
  return bodyOf(text, [text]);
}

/** Returns the body of a message to a Slack incoming webhook: Block Kit, with a text for notifications. */
export function slackMessage({ type, job, pullRequest, jobUrl }: SlackMessage): string {
  const isCancelled = type === 'job.failed' && job.details.failure?.category === 'cancelled';
  const verb = isCancelled ? 'Cancelled' : (Object.entries(verbs).find(([name]) => name === type)?.[1] ?? type);
  const title = lineOf(job.details.title ?? job.id, maxTitleLength);
  const detail = detailOf(type, job.details);
  const person = waitsFor(job.details);
  const link = pullRequest?.link ?? job.prLink;
  const links = link === null ? '' : ` · ${linkTo(link, 'Pull request')}`;
  return bodyOf(`${verb}: ${title}`, [
    `*${verb}:* ${linkTo(jobUrl, title)}`,
    ...(detail === null ? [] : [lineOf(detail, maxDetailLength)]),
    ...(person === null ? [] : [lineOf(person, maxDetailLength)]),
    `${lineOf(job.source.repository, maxTitleLength)}${links}`,
  ]);
}

function bodyOf(text: string, lines: string[]): string {
  const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: lines.join('\n'), verbatim: true } }];
  return JSON.stringify({ text, blocks, unfurl_links: false, unfurl_media: false });
}
