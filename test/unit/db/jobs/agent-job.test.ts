import { describe, expect, it } from 'vitest';
import { agentJobSchema, presentJob } from '../../../../db/jobs/agent-job.ts';
import type { JobRow } from '../../../../db/jobs/jobs.ts';

const row: JobRow = {
  id: 'job_1',
  projectId: 'prj_1',
  organizationId: 'org_1',
  status: 'active',
  phase: 'queued',
  turn: 1,
  repository: 'https://github.com/acme/docs',
  requestedRef: 'next',
  baseBranch: null,
  baseCommit: null,
  mergedFrom: null,
  model: 'offline/editor',
  fallbackModels: ['compatible/other'],
  reasoningEffort: 'high',
  maxOutputTokens: null,
  draft: false,
  title: null,
  message: null,
  branch: null,
  headTree: null,
  headCommit: null,
  prId: null,
  pullRequestId: null,
  pullRequestNumber: null,
  prLink: null,
  prState: null,
  prDraft: null,
  incomplete: null,
  check: null,
  waitingMessages: 0,
  steps: 0,
  inputTokens: 1_000,
  cachedTokens: 700,
  cacheWriteTokens: 200,
  outputTokens: 0,
  costMicros: 250_000,
  failureCategory: null,
  planReview: false,
  mayAsk: false,
  approvedTurn: null,
  plan: null,
  question: null,
  waitSince: null,
  waitUntil: null,
  waitsFor: null,
  forkedFrom: null,
  createdAt: new Date('2026-01-02T03:04:05.678Z'),
  updatedAt: new Date('2026-01-02T03:04:05.678Z'),
  endedAt: null,
  archivedAt: null,
};

describe('presentJob', () => {
  it('shows a new job as specified', () => {
    expect(presentJob(row)).toEqual({
      id: 'job_1',
      status: 'active',
      source: { repository: 'https://github.com/acme/docs', ref: 'next' },
      model: 'offline/editor',
      prLink: null,
      createdAt: '2026-01-02T03:04:05.678Z',
      archivedAt: null,
      details: {
        phase: 'queued',
        title: null,
        message: null,
        plan: null,
        waiting: null,
        incomplete: null,
        check: null,
        models: ['offline/editor', 'compatible/other'],
        reasoningEffort: 'high',
        maxOutputTokens: null,
        steps: 0,
        usage: {
          inputTokens: 1_000,
          cachedInputTokens: 700,
          cacheWriteTokens: 200,
          freshInputTokens: 100,
          outputTokens: 0,
          costUsd: 0.25,
        },
        failure: null,
        forkedFrom: null,
        pullRequest: null,
      },
    });
  });

  it('reports what became of the pull request', () => {
    const link = { pullRequestId: 'pr_1', pullRequestNumber: 1, prLink: 'https://github.com/acme/docs/pull/1' };
    const published = { ...row, ...link, status: 'completed' } as const;
    expect(presentJob(published).details.pullRequest).toEqual({ id: 'pr_1', number: 1, state: 'open', draft: false });
    expect(presentJob({ ...published, prState: 'merged', prDraft: true }).details.pullRequest).toEqual({
      id: 'pr_1',
      number: 1,
      state: 'merged',
      draft: true,
    });
  });

  it('does not guess the parts of the input that an earlier version has not counted', () => {
    expect(presentJob({ ...row, cachedTokens: null, cacheWriteTokens: null }).details.usage).toMatchObject({
      inputTokens: 1_000,
      cachedInputTokens: null,
      cacheWriteTokens: null,
      freshInputTokens: null,
    });
  });

  it('names who is waited for only while the job waits', () => {
    const waitsFor = { name: 'Ada', keyId: 'key_1' };
    const waiting: JobRow = { ...row, phase: 'waiting', plan: '1. Paint it.', waitsFor };
    expect(presentJob(waiting).details.waiting).toMatchObject({ for: 'approval', startedBy: waitsFor });
    expect(presentJob({ ...waiting, waitsFor: null }).details.waiting).toMatchObject({ startedBy: null });
    expect(presentJob({ ...waiting, phase: 'running' }).details.waiting).toBeNull();
  });

  it('names the base branch once it is known', () => {
    expect(presentJob({ ...row, baseBranch: 'main' }).source.ref).toBe('main');
    expect(presentJob({ ...row, requestedRef: null }).source.ref).toBeNull();
  });

  it('shows no pull request while the job is active', () => {
    const prLink = 'https://github.com/acme/docs/pull/1';
    expect(presentJob({ ...row, phase: 'publishing', prLink }).prLink).toBeNull();
    expect(presentJob({ ...row, status: 'completed', prLink }).prLink).toBe(prLink);
  });

  it('explains a failure, even one of an unknown category', () => {
    const failed: JobRow = { ...row, status: 'failed', phase: 'running', failureCategory: 'step_limit' };
    expect(presentJob(failed).details).toMatchObject({
      phase: null,
      failure: { category: 'step_limit', retryable: true },
    });
    expect(presentJob({ ...failed, failureCategory: 'from the future' }).details.failure?.category).toBe('internal');
  });

  it('returns what the API description promises', () => {
    const archived: JobRow = { ...row, status: 'archived', failureCategory: 'cancelled', archivedAt: new Date(0) };
    expect(agentJobSchema.strict().parse(presentJob(archived)).archivedAt).toBe('1970-01-01T00:00:00.000Z');
  });
});
