import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { noOutput, withEvents } from '../../../../dashboard/jobs/job-queries.ts';
import { timelineOf } from '../../../../dashboard/jobs/timeline/timeline.ts';
import { nameOfLink, PullRequestLink } from '../../../../dashboard/jobs/turn-head.tsx';
import { ToolCallItem } from '../../../../dashboard/jobs/timeline/tool-call.tsx';
import type { JobEvent, Step, ToolCall, Turn } from '../../../../dashboard/http/types.ts';

const at = '2026-11-21T10:00:00.000Z';
const turnOf = (turn: number, endedAt: string | null = at) =>
  ({ turn, prompt: `Prompt ${turn}`, createdAt: at, endedAt, messages: [] }) as unknown as Turn;
const stepOf = (turn: number, step: number) => ({ turn, step }) as Step;
const details = { phase: null, message: null, incomplete: null, failure: null, forkedFrom: null };
const eventOf = (turn: number, step: number | null, type: JobEvent['type'], data: Record<string, unknown>) =>
  ({ seq: 1, turn, step, type, createdAt: at, data }) satisfies JobEvent;
const call = {
  toolCallId: 'c',
  toolName: 'run',
  input: {},
  output: null,
  characters: null,
  isError: false,
} as ToolCall;

it('keeps the outcome, the failure and the pull request of earlier turns', () => {
  const live = withEvents(noOutput, [
    eventOf(1, null, 'finish', { title: 'One', message: 'Did one.', prLink: 'https://forge/1' }),
    eventOf(2, null, 'failure', { category: 'cancelled', title: 'The job was cancelled', message: null }),
  ]);
  const turns = [turnOf(1), turnOf(2), turnOf(3, null)];
  const items = timelineOf({
    turns,
    steps: [],
    prLink: null,
    details: { ...details, phase: 'running', message: 'Did one.' },
    live,
  });
  expect(items.map(({ key }) => key)).toEqual(['turn-1', 'outcome-1', 'turn-2', 'outcome-2', 'turn-3']);
  expect(items.flatMap((item) => (item.kind === 'outcome' ? [item.outcome] : []))).toMatchObject([
    { heading: 'Agent', kind: 'good', message: 'Did one.', prLink: 'https://forge/1' },
    { heading: 'The job was cancelled', kind: 'failed', message: null, prLink: null },
  ]);
});

it('shows the outcome of the newest turn once, from the job', () => {
  const live = withEvents(noOutput, [eventOf(1, null, 'finish', { message: 'Beginning…' })]);
  const items = timelineOf({
    turns: [turnOf(1)],
    steps: [],
    prLink: null,
    details: { ...details, message: 'All of it.' },
    live,
  });
  expect(items.slice(1)).toMatchObject([{ kind: 'outcome', outcome: { message: 'All of it.', incomplete: null } }]);
  const again = { ...details, phase: 'queued' as const, message: 'All of it.' };
  const next = timelineOf({ turns: [turnOf(1)], steps: [], prLink: null, details: again, live });
  expect(next.slice(1)).toMatchObject([{ kind: 'outcome', outcome: { message: 'Beginning…' } }]);
});

it('shows a notice before the step that it is about', () => {
  const live = withEvents(noOutput, [
    eventOf(1, null, 'notice', { text: 'of the turn' }),
    eventOf(1, 2, 'notice', { text: 'Commands cannot run here.' }),
  ]);
  const items = timelineOf({ turns: [turnOf(1)], steps: [stepOf(1, 1), stepOf(1, 2)], prLink: null, details, live });
  expect(items.map((item) => (item.kind === 'notice' ? item.text : item.key))).toEqual([
    'turn-1',
    'step-1-1',
    'Commands cannot run here.',
    'step-1-2',
    'of the turn',
  ]);
});

it('marks the steps that a fork has copied', () => {
  const forkedFrom = { jobId: 'job_a', turn: 2, step: 1 };
  const steps = [stepOf(1, 9), stepOf(2, 1), stepOf(2, 2)];
  const items = timelineOf({
    turns: [turnOf(1), turnOf(2)],
    steps,
    prLink: null,
    details: { ...details, forkedFrom },
    live: noOutput,
  });
  expect(items.flatMap((item) => (item.kind === 'step' ? [item.isCopied] : []))).toEqual([true, true, false]);
});

it('shows that a call was stopped once its turn is over', () => {
  const shown = (isOver: boolean) =>
    renderToStaticMarkup(
      createElement(ToolCallItem, {
        job: { projectId: 'p', id: 'j' },
        step: { ...stepOf(1, 1), answeredAt: new Date(Date.now() - 3_660_000).toISOString() },
        call,
        isOver,
      }),
    );
  expect(shown(false)).toContain('aria-label="running"');
  expect(shown(true)).toContain('aria-label="stopped"');
  expect(shown(true)).not.toContain('running for');
  expect(shown(false)).toContain('running for 1 h');
  const items = timelineOf({
    turns: [turnOf(1), turnOf(2, null)],
    steps: [stepOf(1, 1), stepOf(2, 1)],
    prLink: null,
    details,
    live: noOutput,
  });
  expect(items.flatMap((item) => (item.kind === 'step' ? [item.isOver] : []))).toEqual([true, false]);
});

it('keeps how each turn ended, and the pull request of the turns that changed something', () => {
  const live = withEvents(noOutput, [
    eventOf(1, null, 'finish', { title: 'One', message: 'Did one.', prLink: 'https://forge/pull/1' }),
    eventOf(2, null, 'failure', { category: 'cancelled', title: 'The job was cancelled', message: null }),
  ]);
  const steps = [
    { ...stepOf(1, 1), hasChanged: true },
    stepOf(2, 1),
    { ...stepOf(3, 1), hasChanged: true },
    stepOf(3, 2),
  ];
  const items = timelineOf({
    turns: [turnOf(1), turnOf(2), turnOf(3)],
    steps,
    prLink: 'https://forge/pull/2',
    details: { ...details, message: 'Did three.' },
    live,
  });
  const heads = items.flatMap((item) => (item.kind === 'prompt' ? [item] : []));
  expect(heads.map(({ prLink, end }) => [prLink, end?.isCancelled ?? null])).toEqual([
    ['https://forge/pull/1', false],
    [null, true],
    ['https://forge/pull/2', null],
  ]);
  expect(items.flatMap((item) => (item.kind === 'outcome' ? [item.lastStep?.step ?? null] : []))).toEqual([1, null, 2]);
  const links = ['https://github.com/a/b/pull/7', 'https://gitlab.com/a/-/merge_requests/8', '/pulls/pr_1'];
  expect(links.map((link) => nameOfLink(link))).toEqual(['PR #7', 'PR #8', 'Pull request']);
});

it('links each turn to the page of its own pull request, with the state of that one', () => {
  const one = { turn: 1, title: 'One', draft: false, createdAt: '2026-01-01T00:00:00Z' };
  const pullRequests = [
    { ...one, id: 'pr_2', number: 9, state: 'open', link: 'http://127.0.0.1/pulls/pr_2' },
    { ...one, id: 'pr_1', number: 8, state: 'merged', link: null },
    { ...one, id: 'pr_x-7', number: 7, state: 'closed', link: 'https://github.com/a/b/pull/7' },
  ] as const;
  const shown = (prLink: string) =>
    renderToStaticMarkup(createElement(PullRequestLink, { prLink, pullRequests, hasState: true }));
  const expected = {
    'http://docket.test/pulls/pr_1': ['pr_1', 'PR #8', 'merged'],
    'http://127.0.0.1/pulls/pr_2': ['pr_2', 'PR #9', 'open'],
    'https://github.com/a/b/pull/7': ['pr_x-7', 'PR #7', 'closed'],
  };
  for (const [link, [id, name, state]] of Object.entries(expected)) {
    expect(shown(link)).toContain(`<a href="/pulls/${id}">${name}</a>`);
    expect(shown(link)).toContain(state);
  }
  expect(shown('https://github.com/a/b/pull/6')).toBe('<a href="https://github.com/a/b/pull/6">PR #6</a>');
});
