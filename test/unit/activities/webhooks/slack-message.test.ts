import { expect, it } from 'vitest';
import { slackMessage, slackPing } from '../../../../activities/webhooks/slack-message.ts';
import type { AgentJob } from '../../../../db/jobs/agent-job.ts';

const jobUrl = 'https://docket.example.com/jobs/prj_1/job_1';

function said(type: string, details: object = {}, prLink: string | null = null, pullRequest?: { link: string }) {
  const job = {
    id: 'job_1',
    prLink,
    source: { repository: 'https://github.com/acme/lamp' },
    details: { title: 'Fix it', failure: null, waiting: null, message: null, ...details },
  } as AgentJob;
  const { text, blocks } = JSON.parse(slackMessage({ type, job, pullRequest, jobUrl }));
  return { text, lines: blocks[0].text.text.split('\n') };
}

it('says what happened to a job, with links to it and to its pull request', () => {
  expect(said('job.completed', { message: 'Done.' }, 'https://github.com/acme/lamp/pull/1')).toEqual({
    text: 'Completed: Fix it',
    lines: [
      `*Completed:* <${jobUrl}|Fix it>`,
      'Done.',
      'https://github.com/acme/lamp · <https://github.com/acme/lamp/pull/1|Pull request>',
    ],
  });
  expect(said('job.created').text).toBe('Started: Fix it');
  expect(said('pull_request.merged', { message: 'Done.' }).lines).toHaveLength(2);
});

it('links to the pull request that it is about', () => {
  const pullRequest = { link: 'https://github.com/acme/lamp/pull/1' };
  const { lines } = said('pull_request.merged', {}, 'https://github.com/acme/lamp/pull/2', pullRequest);
  expect(lines[1]).toBe('https://github.com/acme/lamp · <https://github.com/acme/lamp/pull/1|Pull request>');
});

it('says why a job failed, and what a job waits for', () => {
  const failed = (category: string) => said('job.failed', { failure: { category, title: 'It broke' } });
  expect(failed('internal').lines.slice(0, 2)).toEqual([`*Failed:* <${jobUrl}|Fix it>`, 'It broke']);
  expect(failed('cancelled').text).toBe('Cancelled: Fix it');
  expect(failed('cancelled').lines).toHaveLength(2);
  const waiting = (details: object, name: string | null = 'Ada <!channel>') =>
    said('job.waiting', { waiting: { startedBy: { name, keyId: 'key_1' }, ...details } }).lines.slice(1, 3);
  const person = 'Waiting for Ada &lt;!channel&gt;, who started the job.';
  expect(waiting({ for: 'answer', question: 'Which license?' })).toEqual(['Which license?', person]);
  const approval = { for: 'approval', question: null };
  expect(waiting(approval)).toEqual(['Its plan waits for approval.', person]);
  expect(waiting(approval, null)[1]).toBe('Waiting for the operator, who started the job.');
  expect(waiting({ ...approval, startedBy: null })[1]).not.toContain('Waiting for');
});

it('escapes what Slack would read as a mention or a link, and cuts long texts before it does', () => {
  const title = '<!channel> & <http://evil|here>\nnext';
  const { text, lines } = said('job.completed', { title, message: `${'&'.repeat(600)}` });
  expect(text).toBe('Completed: &lt;!channel&gt; &amp; &lt;http://evil|here&gt; next');
  expect(lines[0]).toBe(`*Completed:* <${jobUrl}|${text.slice('Completed: '.length)}>`);
  expect(lines[1]).toBe(`${'&amp;'.repeat(499)}…`);
  const strange = said('job.completed', {}, 'https://forge/a|b>?x=1&y=%20').lines[1];
  expect(strange).toBe('https://github.com/acme/lamp · <https://forge/a%7Cb%3E?x=1&amp;y=%20|Pull request>');
});

it('has a text for a ping, and keeps Slack from reading anything else in texts', () => {
  expect(JSON.parse(slackPing())).toEqual({
    text: 'Docket can post to this channel.',
    blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'Docket can post to this channel.', verbatim: true } }],
    unfurl_links: false,
    unfurl_media: false,
  });
});
