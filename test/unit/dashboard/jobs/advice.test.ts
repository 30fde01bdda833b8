import { expect, it } from 'vitest';
import { adviceOn, effectOfMessage, refusalOfMessage, remedyOf } from '../../../../dashboard/jobs/advice.ts';

it('advises only what can help', () => {
  expect(adviceOn({ category: 'ref_not_found', retryable: false })).toBe('');
  expect(remedyOf({ category: 'ref_not_found', remedy: 'Set source.ref.' })).toContain('change the base branch');
  expect(remedyOf({ category: 'step_limit', remedy: 'Split the task.' })).toBe('Split the task.');
  expect(adviceOn({ category: 'cancelled', retryable: false })).toBe('');
  expect(adviceOn({ category: 'internal', retryable: true })).toContain('Retry');
  expect(adviceOn({ category: 'model_refused', retryable: false })).toContain('A plain retry will fail again.');
});

it('promises the same branch and pull request only while the pull request is open', () => {
  const effect = (state: 'open' | 'merged' | 'closed' | null) =>
    effectOfMessage({
      status: 'completed',
      details: { waiting: null, pullRequest: state === null ? null : { id: 'pr_1', number: 1, state, draft: false } },
    });
  expect(effect('open')).toBe('The agent continues on the same branch and pull request.');
  expect(effect('merged')).toContain('is merged: changes go to a new branch');
  expect(effect('closed')).toContain('is closed: changes go to a new branch');
  expect(effect(null)).not.toContain('same');
  expect(effectOfMessage({ status: 'active', details: { waiting: null, pullRequest: null } })).toContain(
    'before its next step',
  );
  const failure = { category: 'ref_not_found', title: '', remedy: '', retryable: false } as const;
  expect(refusalOfMessage({ status: 'failed', details: { failure } })).toContain('Retry the job');
  expect(refusalOfMessage({ status: 'completed', details: { failure: null } })).toBeNull();
  expect(refusalOfMessage({ status: 'archived', details: { failure: null } })).toContain('Fork it');
});
