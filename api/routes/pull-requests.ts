import { Router } from '@koa/router';
import { canBeId } from '../../db/ids.ts';
import type { JobRow, JobStore } from '../../db/jobs.ts';
import type { PullRequestRow, PullRequestStore } from '../../db/pull-requests.ts';
import type { StepStore } from '../../db/steps.ts';
import type { AppRouter, AppState } from '../app-context.ts';
import { pullRequestNotFound } from '../errors.ts';
import { contentSecurityPolicy } from '../pages/html.ts';
import { renderPullRequestPage } from '../pages/pull-request.ts';

export interface PullRequestRouteDeps {
  pullRequests: Pick<PullRequestStore, 'get'>;
  jobs: Pick<JobStore, 'get'>;
  steps: Pick<StepStore, 'snapshot'>;
}

/** Pages of the local forge. The id is the secret of a page: no key is asked for, and the address is passed on to nobody. */
export function createPullRequestsRouter({ pullRequests, jobs, steps }: PullRequestRouteDeps): AppRouter {
  const router = new Router<AppState>();

  router.get('/pulls/:id', async (ctx) => {
    const id = ctx.params['id'] ?? '';
    const pullRequest = canBeId(id) ? await pullRequests.get(id) : null;
    if (pullRequest === null) throw pullRequestNotFound();
    const job = await jobOf(pullRequest);
    const snapshot = job?.headTree ? await steps.snapshot(job.id, job.headTree) : null;

    ctx.set('Content-Type', 'text/html; charset=utf-8');
    ctx.set('Content-Security-Policy', contentSecurityPolicy);
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.set('Cache-Control', 'private, no-store');
    ctx.body = renderPullRequestPage({
      pullRequest,
      commits: commitsOf(pullRequest, job),
      patch: snapshot?.patch ?? null,
    });
  });

  /** The branch of a job's pull request carries the job's id. */
  async function jobOf({ id, head }: PullRequestRow): Promise<JobRow | null> {
    const jobId = /^docket\/(job_[0-9a-z]+)/.exec(head)?.[1];
    const job = jobId === undefined ? null : await jobs.get(jobId);
    return job?.prId === id ? job : null;
  }

  return router;
}

function commitsOf({ title }: PullRequestRow, job: JobRow | null) {
  return job === null || job.headCommit === null
    ? []
    : [{ id: job.headCommit, subject: job.title ?? title, parent: job.baseCommit }];
}
