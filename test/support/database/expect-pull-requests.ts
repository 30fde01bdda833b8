import type { Pool } from 'pg';
import { expect } from 'vitest';
import type { JobRow } from '../../../db/jobs/jobs.ts';
import { createPullRequestListStore } from '../../../db/pull-requests/pull-request-lists.ts';
import { createPullRequestStore } from '../../../db/pull-requests/pull-requests.ts';

/**
 * Expects that each turn of a job opened its own pull request, with its own commit and change. `turns` are the job
 * after each turn; `files` are the changed files by the state of each pull request.
 */
export async function expectPullRequests(pool: Pool, turns: JobRow[], files: Record<string, string[]>): Promise<void> {
  const pullRequests = createPullRequestStore(pool);
  const listed = (await createPullRequestListStore(pool).ofJob(turns[0]!, turns[0]!.id)).toReversed();
  expect(listed).toHaveLength(turns.length);
  const states = Object.entries(files);
  for (const [index, job] of turns.entries()) {
    const [state, changed] = states[index]!;
    const { pullRequestId: id, pullRequestNumber: number, prLink: link, title, turn } = job;
    const shown = { id, number, link, title, turn, state };
    expect(listed[index]).toMatchObject(shown);
    expect(await pullRequests.find(job, id!)).toMatchObject({
      ...shown,
      isNewest: index === turns.length - 1,
      head: job.branch,
      headCommit: job.headCommit,
      job: { id: job.id, commits: [{ turn, commit: job.headCommit }] },
    });
    const patch = (await pullRequests.patch(job, id!)) ?? '';
    expect([...patch.matchAll(/^\+\+\+ b\/(.*)$/gm)].map(([, path]) => path)).toEqual(changed);
  }
}
