import { expect, it } from 'vitest';
import { adviceOn, effectOfMessage } from '../../../dashboard/jobs/advice.ts';

it('advises only what can help', () => {
  expect(adviceOn({ category: 'ref_not_found', retryable: false })).toContain('A message below would fail again.');
  expect(adviceOn({ category: 'cancelled', retryable: false })).toBe('');
  expect(adviceOn({ category: 'internal', retryable: true })).toContain('Retry');
  expect(adviceOn({ category: 'model_refused', retryable: false })).toContain('A plain retry will fail again.');
});

it('promises the same branch and pull request only while the pull request is open', () => {
  const effect = (state: 'open' | 'merged' | 'closed' | null) =>
    effectOfMessage({
      status: 'completed',
      details: { failure: null, waiting: null, pullRequest: state === null ? null : { state, draft: false } },
    });
  expect(effect('open')).toBe('The agent continues on the same branch and pull request.');
  expect(effect('merged')).toContain('is merged: changes go to a new branch');
  expect(effect('closed')).toContain('is closed: changes go to a new branch');
  expect(effect(null)).not.toContain('same');
  expect(effectOfMessage({ status: 'active', details: { failure: null, waiting: null, pullRequest: null } })).toContain(
    'before its next step',
  );
  const failure = { category: 'ref_not_found', title: '', remedy: '', retryable: false } as const;
  expect(effectOfMessage({ status: 'failed', details: { failure, waiting: null, pullRequest: null } })).toContain(
    'retry the job',
  );
});
