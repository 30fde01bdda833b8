import { createRequire } from 'node:module';
import { z } from 'zod';
import type { MergeCause } from '../../db/pull-requests/pull-requests.ts';
import { createEgress, type Egress } from '../../lib/network/egress.ts';
import type { FoundPullRequest, MarksOfKind } from './ensure-pull-request.ts';
import { createHostedForge } from './hosted-forge.ts';
import { conflictWith, type Obstacle } from './merge-pull-request.ts';
import { linkSchema, maxPageSize, maxPages, pageOf } from './forge-http.ts';
import { repositoryPath } from './repository-path.ts';
import { ForgeError, type Forge, type PullRequest, type PullRequestDraft } from './forge.ts';
import { createGitlabTransport, GitlabRefusal } from './gitlab-transport.ts';
import { trimEndSlashes } from '../../lib/trim-end-slashes.ts';

export interface GitlabOptions {
  token: string;
  /** Web address of the server, e.g. `https://gitlab.com`. */
  url: string;
  egress?: Egress;
}

// only a worker with a project on GitLab loads its client
const load = createRequire(import.meta.url);

const forge = 'GitLab';
const draftPrefix = 'Draft: ';
const draftPattern = /^\s*(?:draft:|\[draft\]|\(draft\))\s*/i;
const mergeRequestSchema = z.object({
  iid: z.number().int(),
  web_url: linkSchema,
  state: z.enum(['opened', 'closed', 'locked', 'merged']),
  title: z.string(),
  description: z.string().nullish(),
  draft: z.boolean().optional(),
  source_branch: z.string(),
  project_id: z.number(),
  source_project_id: z.number().nullish(),
});
const readSchema = mergeRequestSchema.extend({
  sha: z.string(),
  target_branch: z.string(),
  merge_commit_sha: z.string().nullish(),
  squash_commit_sha: z.string().nullish(),
  has_conflicts: z.boolean().catch(false),
  detailed_merge_status: z
    .string()
    .regex(/^[a-z_]{1,60}$/)
    .catch('mergeable'),
});
/** Statuses of a check that has not finished. */
const pending = ['checking', 'unchecked', 'preparing', 'approvals_syncing'];
/** Requirements that are not met, by GitLab's status. */
const requirements: Record<string, { what: string; cause?: MergeCause | null }> = {
  need_rebase: { what: 'the branch to be rebased', cause: 'behind' },
  ci_must_pass: { what: 'a successful pipeline', cause: 'checks' },
  ci_still_running: { what: 'the pipeline to finish', cause: null },
  discussions_not_resolved: { what: 'all threads to be resolved' },
  not_approved: { what: 'an approval' },
  requested_changes: { what: 'the changes that a reviewer requested' },
  merge_request_blocked: { what: 'another merge request to be merged first' },
  status_checks_must_pass: { what: 'all status checks to pass', cause: 'checks' },
  security_policy_violations: { what: 'its security policies to be met' },
};
const usersSchema = pageOf(z.object({ id: z.number().int(), username: z.string() }));

/** Creates the forge for GitLab; its pull requests are merge requests. The token is sent only to its own server. */
export function createGitlabForge({ token, url, egress = createEgress() }: GitlabOptions): Forge {
  const root = trimEndSlashes(url);
  const projectOf = (repository: string) => repositoryPath(repository, { root, forge }).path;
  const { Branches, MergeRequests, Users }: typeof import('@gitbeaker/core') = load('@gitbeaker/core');
  const resources = (signal: AbortSignal) => {
    const options = { host: root, token, rateLimits: {}, requesterFn: createGitlabTransport(egress, signal) };
    return {
      branches: new Branches(options),
      mergeRequests: new MergeRequests(options),
      users: new Users(options),
    };
  };

  async function find({ repository, head, signal }: PullRequestDraft): Promise<FoundPullRequest | null> {
    const projectId = projectOf(repository);
    const filter = { sourceBranch: head, scope: 'all', perPage: maxPageSize, orderBy: 'created_at' } as const;
    let newest: FoundPullRequest | null = null;
    for (let page = 1; page <= maxPages; page += 1) {
      const listed = parsed(
        pageOf(mergeRequestSchema),
        await resources(signal).mergeRequests.all({ projectId, page, ...filter }),
      );
      const own = listed
        // a fork may have a branch with the same name
        .filter((one) => one.source_branch === head && (one.source_project_id ?? one.project_id) === one.project_id)
        .map(presented);
      const open = own.find(({ state }) => state === 'open');
      if (open !== undefined) return open;
      newest ??= own[0] ?? null;
      if (listed.length < maxPageSize) break;
    }
    return newest;
  }

  async function create(draft: PullRequestDraft): Promise<FoundPullRequest | null> {
    const { repository, head, base, body, signal } = draft;
    const title = `${draft.draft ? draftPrefix : ''}${draft.title}`;
    try {
      const { mergeRequests } = resources(signal);
      const made = await mergeRequests.create(projectOf(repository), head, base, title, { description: body });
      return presented(parsed(mergeRequestSchema, made));
    } catch (error) {
      if (!(error instanceof GitlabRefusal)) throw error;
      if (error.status === 409) return null;
      if (error.kind !== 'rejected') throw error;
      throw (await missingBranch(draft)) ?? error;
    }
  }

  /** Finds out which branch is missing, because GitLab's refusal does not identify it. */
  async function missingBranch({ repository, head, base, signal }: PullRequestDraft): Promise<ForgeError | null> {
    const isThere = async (name: string) => {
      try {
        await resources(signal).branches.show(projectOf(repository), name);
        return true;
      } catch (error) {
        if (error instanceof GitlabRefusal && error.status === 404) return false;
        throw error;
      }
    };
    if (!(await isThere(base)))
      return new ForgeError('rejected', 'GitLab rejected the merge request: its base branch does not exist.');
    if (!(await isThere(head)))
      return new ForgeError('rejected', 'GitLab rejected the merge request: its branch does not exist.');
    return null;
  }

  async function mark({ id }: PullRequest, { kind, names }: MarksOfKind, { repository, signal }: PullRequestDraft) {
    const { mergeRequests, users } = resources(signal);
    const projectId = projectOf(repository);
    if (kind === 'labels') {
      await mergeRequests.edit(projectId, Number(id), { addLabels: names.join(',') });
      return [];
    }
    const ids: number[] = [];
    const missing: string[] = [];
    for (const username of names) {
      const found = parsed(usersSchema, await users.all({ username }));
      const user = found.find((one) => one.username.toLowerCase() === username.toLowerCase());
      if (user === undefined) missing.push(username);
      else ids.push(user.id);
    }
    const people = kind === 'assignees' ? { assigneeIds: ids } : { reviewerIds: ids };
    if (ids.length > 0) await mergeRequests.edit(projectId, Number(id), people);
    return missing.length === 0 ? [] : [`GitLab does not know the ${kind} ${missing.join(', ')}.`];
  }

  return createHostedForge({
    forge,
    root,
    credentialOf: () => ({ username: 'oauth2', token: async () => token }),
    find,
    create,
    async update(found, draft) {
      const title = `${found.draft ? draftPrefix : ''}${draft.title}`;
      const change = { title, description: draft.body };
      const { mergeRequests } = resources(draft.signal);
      const updated = await mergeRequests.edit(projectOf(draft.repository), Number(found.id), change);
      return presented(parsed(mergeRequestSchema, updated));
    },
    mark,
    takesReviewersTogether: true,
    async read({ repository, id, signal }) {
      const shown = await resources(signal).mergeRequests.show(projectOf(repository), Number(id));
      const found = parsed(readSchema, shown);
      const { state, draft } = presented(found);
      const { sha: headCommit, merge_commit_sha: merged, squash_commit_sha: squashed } = found;
      return {
        state,
        draft,
        headCommit,
        // a fast-forward has its own commit only if it squashes
        mergeCommit: state === 'merged' ? (merged ?? squashed ?? headCommit) : null,
        isPending: pending.includes(found.detailed_merge_status),
        obstacle: obstacleOf(found),
      };
    },
    async send({ repository, id, method, headCommit, signal }) {
      const merge = { sha: headCommit, squash: method === 'squash' };
      try {
        await resources(signal).mergeRequests.merge(projectOf(repository), Number(id), merge);
      } catch (error) {
        if (!(error instanceof GitlabRefusal) || error.kind !== 'rejected') throw error;
        throw new ForgeError('rejected', 'GitLab refused the merge. The merge request on GitLab shows why.');
      }
    },
  });
}

function obstacleOf(found: z.infer<typeof readSchema>): Obstacle | null {
  const { has_conflicts: hasConflicts, detailed_merge_status: status, target_branch: base } = found;
  if (hasConflicts || status === 'conflict') return conflictWith(base);
  if (['mergeable', 'draft_status', 'not_open', ...pending].includes(status)) return null;
  const { what, cause = 'rules' } = requirements[status] ?? { what: `more (${status})` };
  return { problem: `GitLab requires ${what} before a merge into ${base}.`, cause };
}

function parsed<Value>(schema: z.ZodType<Value>, data: unknown): Value {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  throw new ForgeError('unavailable', "GitLab's response is not a merge request.");
}

function presented(mergeRequest: z.infer<typeof mergeRequestSchema>): FoundPullRequest {
  const { iid, web_url: url, state, title, description, draft = false } = mergeRequest;
  const prState: PullRequest['state'] = state === 'opened' || state === 'locked' ? 'open' : state;
  const plain = draft ? title.replace(draftPattern, '') : title;
  return { id: String(iid), url, state: prState, title: plain, body: description ?? '', draft };
}
