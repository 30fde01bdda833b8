import { z } from 'zod';
import { pullRequestStates } from '../../db/jobs/job-states.ts';
import {
  maxPerJob,
  type JobPullRequest,
  type ListedPullRequest,
  type PullRequestListStore,
} from '../../db/pull-requests/pull-request-lists.ts';
import { maxPageSize } from '../../db/page.ts';
import type { Admission } from '../access/request-access.ts';
import type { AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { pageOf } from '../http/page-of.ts';
import { nextCursor, pageQuerySchema } from '../http/page-schemas.ts';
import { pullRequestCountsSchema } from '../jobs/job-list-schemas.ts';
import type { ReadJob } from '../jobs/job-reader.ts';
import { ofJob } from '../jobs/job-schemas.ts';
import { pullRequestSchema } from './routes.ts';

const ofOneJobSchema = pullRequestSchema.pick({
  id: true,
  number: true,
  turn: true,
  title: true,
  link: true,
  state: true,
  draft: true,
  createdAt: true,
});

const lines = z.number().int().nullable();
const listedSchema = ofOneJobSchema.extend({
  job: pullRequestSchema.shape.job,
  changedFiles: z.number().int().nullable().meta({ description: 'Null when its change is no longer stored.' }),
  additions: lines.meta({ description: 'Null if the lines were not counted.' }),
  deletions: lines,
});

export const pullRequestListRoutes = {
  listPullRequests: defineRoute({
    method: 'get',
    path: '/v1/pull-requests',
    summary: 'Lists the pull requests of the organization, newest first.',
    description: 'A job has several if a turn began after the last one was merged or closed.',
    query: pageQuerySchema.extend({
      state: z.enum(pullRequestStates).optional().meta({ description: 'Only pull requests in this state.' }),
    }),
    responses: {
      200: json(
        'A page of pull requests.',
        z.object({ pullRequests: z.array(listedSchema).max(maxPageSize), nextCursor }),
      ),
    },
  }),
  countPullRequests: defineRoute({
    method: 'get',
    path: '/v1/jobs/pull-request-counts',
    summary: 'Counts the pull requests of the organization by state.',
    description: 'Counts up to 1,000 of each state.',
    responses: { 200: json('The counts.', pullRequestCountsSchema) },
  }),
  listAgentJobPullRequests: defineRoute({
    method: 'get',
    path: '/v2/agent/{projectId}/job/{id}/pull-requests',
    summary: 'Lists the pull requests of a job, newest first.',
    description: 'A turn opens another one when the last one was merged or closed. Returns the newest ones.',
    params: ofJob,
    responses: {
      200: json('The pull requests.', z.object({ pullRequests: z.array(ofOneJobSchema).max(maxPerJob) })),
    },
  }),
};

export interface PullRequestListRouteDeps {
  admit: Admission;
  readJob: ReadJob;
  pullRequestLists: PullRequestListStore;
}

export function createPullRequestListsRouter(deps: PullRequestListRouteDeps): AppRouter {
  const { admit, readJob, pullRequestLists } = deps;
  return mountRoutes(admit, pullRequestListRoutes, {
    async listPullRequests({ caller, query }) {
      const page = await pageOf(() => pullRequestLists.list(caller, query));
      return { pullRequests: page.pullRequests.map(presentListed), nextCursor: page.nextCursor };
    },

    async countPullRequests({ caller }) {
      return { counts: await pullRequestLists.count(caller) };
    },

    async listAgentJobPullRequests({ caller, params }) {
      const { id } = await readJob(caller, params.projectId, params.id);
      return { pullRequests: (await pullRequestLists.ofJob(caller, id)).map(present) };
    },
  });
}

function presentListed({ job, change, ...row }: ListedPullRequest): z.infer<typeof listedSchema> {
  const { files = null, additions = null, deletions = null } = change ?? {};
  return { ...present(row), job, changedFiles: files, additions, deletions };
}

function present({ createdAt, ...row }: JobPullRequest): z.infer<typeof ofOneJobSchema> {
  return { ...row, createdAt: createdAt.toISOString() };
}
