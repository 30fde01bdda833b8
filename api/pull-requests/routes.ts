import { z } from 'zod';
import type { Owner } from '../../db/caller.ts';
import type { RateLimitPolicy } from '../../db/operations/rate-limits.ts';
import { forgeKinds } from '../../db/organizations/projects.ts';
import {
  type FoundPullRequest,
  type PullRequestStore,
  mergeCauses,
  maxCommits,
} from '../../db/pull-requests/pull-requests.ts';
import { actorSchema, presentActor } from '../administration/actor.ts';
import type { EnforceRateLimit } from '../access/rate-limit.ts';
import type { Admission } from '../access/request-access.ts';
import type { ApiCaller } from '../access/api-caller.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { closedBody } from '../http/closed-object.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { pullRequestElsewhere, pullRequestNotFound, pullRequestOver } from '../http/errors.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { repositoryUrl } from '../../lib/inputs/repository.ts';
import { time } from '../../lib/time-schemas.ts';

export const pullRequestSchema = z.object({
  id: z.string(),
  number: z.number().int(),
  forge: z.enum(forgeKinds),
  link: z.string().nullable().meta({ description: 'Its page on the forge; for the local forge, in the dashboard.' }),
  repository: z.string(),
  head: z.string(),
  headCommit: z.string().nullable().meta({ description: 'The last commit of its branch, which the diff shows.' }),
  base: z.string(),
  title: z.string(),
  body: z.string().meta({ description: 'Markdown.' }),
  state: z.enum(['open', 'closed', 'merged']),
  draft: z.boolean(),
  job: z.object({ id: z.string(), projectId: z.string() }),
  turn: z.number().int().meta({ description: 'The turn of the job that opened it.' }),
  isNewest: z.boolean().meta({ description: 'False when a later turn of the job has opened another one.' }),
  commits: z
    .array(z.object({ id: z.string(), turn: z.number().int(), title: z.string(), createdAt: time }))
    .max(maxCommits)
    .meta({ description: 'One commit for each turn that pushed: the newest ones, oldest first.' }),
  merge: z.object({
    isMerging: z.boolean().meta({ description: 'True from the request until a worker has merged it or failed.' }),
    problem: z.string().nullable().meta({ description: 'Why the last attempt to merge failed.' }),
    requestedBy: actorSchema.meta({ description: 'Who requested it last in Docket; null when nobody did.' }),
    commit: z.string().nullable(),
    isChecking: z.boolean().meta({ description: 'True until a worker has checked whether it can be merged.' }),
    mergeability: z
      .object({
        problem: z.string().nullable().meta({ description: 'Why it cannot be merged; null if it can.' }),
        cause: z.enum(mergeCauses).nullable().meta({
          description:
            'What blocks the merge. A message to the job can clear conflict, behind, checks and moved; rules and access require a person. Null if nothing is known to block it.',
        }),
        conflicts: z.array(z.string()).max(100).meta({ description: 'Files with conflicts.' }),
        checkedAt: time,
      })
      .nullable()
      .meta({ description: 'Result of the newest check; null before the first one.' }),
  }),
  closedBy: actorSchema.meta({ description: 'Who closed it in Docket; null when nobody did.' }),
  createdAt: time,
  updatedAt: time,
});
type PublicPullRequest = z.infer<typeof pullRequestSchema>;

const mergeSchema = closedBody({
  method: z
    .enum(['merge', 'squash'])
    .default('merge')
    .meta({ description: 'merge adds a merge commit, squash a single commit with all changes.' }),
  deleteBranch: z.boolean().default(false).meta({ description: 'Deletes the branch after the merge.' }),
  headCommit: z
    .string()
    .regex(/^[0-9a-f]{40}$/, 'must be a full commit id: 40 lower-case hexadecimal digits')
    .optional()
    .meta({
      description:
        'The headCommit that was reviewed; the merge is refused if the branch has another one. Defaults to the newest.',
    }),
});

const base = '/v1/pull-requests/{id}';
const params = { id: z.string().meta({ description: 'The id of the pull request.' }) };
const pullRequest = json('The pull request.', pullRequestSchema);

/** Routes for the pull requests of jobs, on the local forge and on others. */
export const pullRequestRoutes = {
  getPullRequest: defineRoute({
    method: 'get',
    path: base,
    summary: 'Returns a pull request of a job.',
    params,
    responses: { 200: pullRequest },
  }),
  getPullRequestDiff: defineRoute({
    method: 'get',
    path: `${base}/diff`,
    summary: 'Returns the change of a pull request as a patch.',
    params,
    responses: { 200: { description: 'The patch.', content: { 'text/x-diff': z.string() } } },
    errors: [409],
  }),
  mergePullRequest: defineRoute({
    method: 'post',
    path: `${base}/merge`,
    summary: 'Requests the merge of a pull request.',
    description: 'A worker merges it. merge.isMerging is true until then; merge.problem says why a merge failed.',
    role: 'member',
    params,
    body: mergeSchema.optional(),
    responses: { 202: pullRequest },
    errors: [409],
  }),
  checkPullRequest: defineRoute({
    method: 'post',
    path: `${base}/check`,
    summary: 'Checks whether a pull request can be merged.',
    description: 'A worker checks it. merge.isChecking is true until then; merge.mergeability has the result.',
    role: 'member',
    params,
    responses: { 202: pullRequest },
  }),
  closePullRequest: defineRoute({
    method: 'post',
    path: `${base}/close`,
    summary: 'Closes a pull request of the local forge without merging it.',
    role: 'member',
    params,
    responses: { 200: pullRequest },
    errors: [409],
  }),
  readyPullRequest: defineRoute({
    method: 'post',
    path: `${base}/ready`,
    summary: 'Marks a draft pull request of the local forge as ready for review.',
    role: 'member',
    params,
    responses: { 200: pullRequest },
    errors: [409],
  }),
};

/** Limit of the requests of an organization that make a worker ask a forge. */
const forgePolicy: RateLimitPolicy = { name: 'pull-request', limit: 3_000, windowSeconds: 3_600 };

export interface PullRequestRouteDeps {
  admit: Admission;
  enforceRateLimit: EnforceRateLimit;
  pullRequests: PullRequestStore;
}

export function createPullRequestsRouter(deps: PullRequestRouteDeps): AppRouter {
  const { admit, enforceRateLimit, pullRequests } = deps;

  function limitForge(ctx: AppContext, { organizationId }: ApiCaller): Promise<void> {
    return enforceRateLimit(ctx, [{ key: `pull-request:${organizationId}`, policy: forgePolicy }]);
  }

  async function find(owner: Owner, { id }: { id: string }): Promise<FoundPullRequest> {
    const row = await pullRequests.find(owner, id);
    if (row === null) throw pullRequestNotFound();
    return row;
  }

  async function findLocal(owner: Owner, params: { id: string }): Promise<FoundPullRequest> {
    const row = await find(owner, params);
    if (row.forge !== 'local') throw pullRequestElsewhere(row.forge);
    return row;
  }

  /** Returns the pull request as it is after the change. */
  async function changed(owner: Owner, row: FoundPullRequest): Promise<PublicPullRequest> {
    return present((await pullRequests.find(owner, row.id)) ?? row);
  }

  return mountRoutes(admit, pullRequestRoutes, {
    async getPullRequest({ caller, params }) {
      return present(await find(caller, params));
    },

    async getPullRequestDiff({ caller, params }) {
      const { id } = await find(caller, params);
      return (await pullRequests.patch(caller, id)) ?? '';
    },

    async mergePullRequest({ ctx, caller, params, body }) {
      const row = await find(caller, params);
      await limitForge(ctx, caller);
      const { method = 'merge', deleteBranch = false, headCommit = null } = (await body()) ?? {};
      const request = { method, deletesBranch: deleteBranch, headCommit };
      if (row.state !== 'merged' && !(await pullRequests.requestMerge(caller, row.id, request))) {
        throw pullRequestOver(row.draft && row.state === 'open' ? 'a draft' : row.state);
      }
      return changed(caller, row);
    },

    async checkPullRequest({ ctx, caller, params }) {
      const row = await find(caller, params);
      await limitForge(ctx, caller);
      await pullRequests.requestCheck(caller, row.id);
      return changed(caller, row);
    },

    async closePullRequest({ caller, params }) {
      const row = await findLocal(caller, params);
      if (row.state !== 'closed' && !(await pullRequests.close(caller, row.id))) {
        throw pullRequestOver(row.state === 'open' ? 'being merged' : row.state);
      }
      return changed(caller, row);
    },

    async readyPullRequest({ caller, params }) {
      const row = await findLocal(caller, params);
      if (row.state !== 'open') throw pullRequestOver(row.state);
      await pullRequests.markReady(caller, row.id);
      return changed(caller, row);
    },
  });
}

function present(row: FoundPullRequest): PublicPullRequest {
  const { id, number, forge, link, repository, head, headCommit, base, title, body, draft, state, job, merge } = row;
  const { turn: openedIn, isNewest } = row;
  return {
    id,
    number,
    forge,
    link,
    repository: repositoryUrl(repository),
    head,
    headCommit,
    base,
    title,
    body,
    draft,
    state,
    job: { id: job.id, projectId: job.projectId },
    turn: openedIn,
    isNewest,
    commits: job.commits.map(({ commit, turn, prompt, createdAt }) => ({
      id: commit,
      turn,
      title: turn === openedIn ? title : (prompt.split('\n')[0] ?? ''),
      createdAt: new Date(createdAt).toISOString(),
    })),
    merge: {
      ...merge,
      requestedBy: presentActor(merge.requestedBy),
      mergeability: merge.mergeability && {
        ...merge.mergeability,
        cause: merge.mergeability.cause ?? null,
        checkedAt: new Date(merge.mergeability.checkedAt).toISOString(),
      },
    },
    closedBy: presentActor(row.closedBy),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
