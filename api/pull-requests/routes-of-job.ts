import { z } from 'zod';
import { mostOfJob, type ListedPullRequest, type PullRequestStore } from '../../db/pull-requests/pull-requests.ts';
import type { Admission } from '../access/request-access.ts';
import type { AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import type { ReadJob } from '../jobs/job-reader.ts';
import { ofJob } from '../jobs/job-schemas.ts';
import { pullRequestSchema } from './routes.ts';

const listedSchema = pullRequestSchema.pick({
  id: true,
  number: true,
  turn: true,
  title: true,
  link: true,
  state: true,
  draft: true,
  createdAt: true,
});

/** The route for the pull requests of one job. */
export const jobPullRequestRoutes = {
  listAgentJobPullRequests: defineRoute({
    method: 'get',
    path: '/v2/agent/{projectId}/job/{id}/pull-requests',
    summary: 'Lists the pull requests of a job, newest first.',
    description: 'A turn opens another one when the last one was merged or closed. Returns the newest ones.',
    key: 'admin',
    params: ofJob,
    responses: {
      200: json('The pull requests.', z.object({ pullRequests: z.array(listedSchema).max(mostOfJob) })),
    },
  }),
};

export interface JobPullRequestRouteDeps {
  admit: Admission;
  readJob: ReadJob;
  pullRequests: Pick<PullRequestStore, 'ofJob'>;
}

export function createJobPullRequestsRouter({ admit, readJob, pullRequests }: JobPullRequestRouteDeps): AppRouter {
  return mountRoutes(admit, jobPullRequestRoutes, {
    async listAgentJobPullRequests({ caller, params }) {
      const { id } = await readJob(caller, params.projectId, params.id);
      return { pullRequests: (await pullRequests.ofJob(caller, id)).map(present) };
    },
  });
}

function present({ createdAt, ...row }: ListedPullRequest): z.infer<typeof listedSchema> {
  return { ...row, createdAt: createdAt.toISOString() };
}
