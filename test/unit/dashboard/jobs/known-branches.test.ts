import { expect, it } from 'vitest';
import type { ListedJob } from '../../../../dashboard/http/types.ts';
import { branchesOf } from '../../../../dashboard/jobs/known-branches.ts';

function jobOf(ref: string | null, branch: string | null, details: object = {}): ListedJob {
  return { source: { ref }, branch, details: { failure: null, pullRequest: null, ...details } } as ListedJob;
}

it('suggests base branches that exist, then those of open pull requests, each once', () => {
  const open = { pullRequest: { state: 'open', draft: false } };
  const merged = { pullRequest: { state: 'merged', draft: false } };
  const missing = { failure: { category: 'ref_not_found' } };
  const jobs = [
    jobOf('main', 'docket/one', open),
    jobOf('main', 'docket/two', merged),
    jobOf('typo', null, missing),
    jobOf('release', null),
    jobOf(null, null),
  ];
  expect(branchesOf(jobs)).toEqual(['main', 'release', 'docket/one']);
  expect(branchesOf(Array.from({ length: 100 }, (_, at) => jobOf(`branch-${at}`, null)))).toHaveLength(30);
});
