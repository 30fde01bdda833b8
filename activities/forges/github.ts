import type { Octokit } from '@octokit/rest';
import { z } from 'zod';
import { createEgress, type Egress } from '../../lib/network/egress.ts';
import { ensurePullRequest, tryMark, type FoundPullRequest, type PullRequestRequests } from './ensure-pull-request.ts';
import { conflictWith, createMerging, type MergeRequests, type Obstacle } from './merge-pull-request.ts';
import { failureOfAnswer } from './forge-failure.ts';
import { linkSchema, longestPage, pageOf } from './forge-http.ts';
import { liesBelow, repositoryPath } from './repository-path.ts';
import {
  ForgeError,
  type Forge,
  type Marks,
  type PullRequest,
  type PullRequestAddress,
  type PullRequestDraft,
} from './forge.ts';
import { githubUrlOf } from './github-address.ts';
import { createOctokit, type GithubCredential, type GithubRepository } from './github-credential.ts';
import { githubFailureOf, isAlreadyExists, isWithoutDrafts, mergeFailureOf } from './github-failure.ts';

export interface GithubOptions {
  credential: GithubCredential;
  /** `https://api.github.com`, or `https://<host>/api/v3` for an Enterprise server. */
  apiUrl: string;
  egress?: Egress;
}

const forge = 'GitHub';
const pullRequestSchema = z.object({
  number: z.number().int(),
  html_url: linkSchema,
  state: z.enum(['open', 'closed']),
  merged_at: z.string().nullish(),
  title: z.string(),
  body: z.string().nullish(),
  draft: z.boolean().optional(),
  head: z.object({ ref: z.string() }),
});

const readSchema = pullRequestSchema.extend({
  head: z.object({ ref: z.string(), sha: z.string() }),
  base: z.object({ ref: z.string() }),
  merge_commit_sha: z.string().nullish(),
  // null while GitHub is computing it
  mergeable: z.boolean().nullish(),
  mergeable_state: z.string().catch('unknown'),
});

type Call = (octokit: Octokit, request: { signal: AbortSignal }) => Promise<{ status: number; data: unknown }>;

/** Creates the forge for GitHub and GitHub Enterprise. The credential is sent only to its own server. */
export function createGithubForge({ credential, apiUrl, egress = createEgress() }: GithubOptions): Forge {
  const root = githubUrlOf(apiUrl);
  const repositoryOf = (repository: string): GithubRepository => {
    const { owner, name } = repositoryPath(repository, { root, forge });
    if (!owner.includes('/')) return { owner, repo: name };
    throw new ForgeError('not-found', 'The repository address is not a GitHub address with an owner and a name.');
  };

  /** Retries once with a renewed credential. That is safe because a rejected request had no effect. */
  async function ask(target: GithubRepository, signal: AbortSignal, call: Call): Promise<unknown> {
    const attempt = async (fresh: boolean) => {
      const token = await credential.tokenFor(target, { fresh });
      const { status, data } = await call(createOctokit({ apiUrl, token, egress }), { signal });
      if (status >= 300) throw failureOfAnswer({ forge, status, headers: {} });
      return data;
    };
    try {
      return await attempt(false);
    } catch (error) {
      if (!credential.isRenewable || githubFailureOf(error, signal).kind !== 'authentication') throw error;
      return attempt(true);
    }
  }

  async function answered<Value>(
    schema: z.ZodType<Value>,
    { repository, signal }: { repository: string; signal: AbortSignal },
    call: (target: GithubRepository) => Call,
  ): Promise<Value> {
    const target = repositoryOf(repository);
    try {
      const result = schema.safeParse(await ask(target, signal, call(target)));
      if (result.success) return result.data;
    } catch (error) {
      throw githubFailureOf(error, signal);
    }
    throw new ForgeError('unavailable', "GitHub's response is not a pull request.");
  }

  async function create(draft: PullRequestDraft): Promise<FoundPullRequest | null> {
    const { head, base, title, body, signal } = draft;
    const target = repositoryOf(draft.repository);
    try {
      const data = await ask(target, signal, (octokit, request) =>
        octokit.rest.pulls.create({ ...target, head, base, title, body, draft: draft.draft, request }),
      );
      return presented(pullRequestSchema.parse(data));
    } catch (error) {
      if (isAlreadyExists(error)) return null;
      // free plans have no drafts in private repositories; an open pull request is better than none
      if (draft.draft && isWithoutDrafts(error)) return create({ ...draft, draft: false });
      throw githubFailureOf(error, signal);
    }
  }

  const requests: PullRequestRequests = {
    forge,
    async find(draft) {
      const { head } = draft;
      const found = await answered(pageOf(pullRequestSchema), draft, (target) => (octokit, request) => {
        const filter = { head: `${target.owner}:${head}`, state: 'all' as const, per_page: longestPage };
        return octokit.rest.pulls.list({ ...target, ...filter, request });
      });
      // servers that only resemble GitHub ignore the filter
      const own = found.filter((one) => one.head.ref === head);
      const best = own.find(({ state }) => state === 'open') ?? own[0];
      return best === undefined ? null : presented(best);
    },
    create,
    async update(found, draft) {
      const { title, body } = draft;
      const updated = await answered(
        pullRequestSchema,
        draft,
        (target) => (octokit, request) =>
          octokit.rest.pulls.update({ ...target, pull_number: Number(found.id), title, body, request }),
      );
      return presented(updated);
    },
    mark: ({ id }, marks, draft) => mark(Number(id), marks, draft),
  };

  async function mark(number: number, { reviewers, labels, assignees }: Marks, draft: PullRequestDraft) {
    const change = (call: (target: GithubRepository) => Call) => answered(z.unknown(), draft, call);
    const notes: string[] = [];
    if (labels.length > 0) {
      const set =
        (target: GithubRepository): Call =>
        (octokit, request) =>
          octokit.rest.issues.addLabels({ ...target, issue_number: number, labels: [...labels], request });
      notes.push(...(await tryMark(`GitHub did not accept the labels ${labels.join(', ')}.`, () => change(set))));
    }
    if (assignees.length > 0) {
      const set =
        (target: GithubRepository): Call =>
        (octokit, request) =>
          octokit.rest.issues.addAssignees({ ...target, issue_number: number, assignees: [...assignees], request });
      notes.push(...(await tryMark(`GitHub did not accept the assignees ${assignees.join(', ')}.`, () => change(set))));
    }
    // one by one, because GitHub refuses all reviewers when one of them may not review
    for (const reviewer of reviewers) {
      const set =
        (target: GithubRepository): Call =>
        (octokit, request) =>
          octokit.rest.pulls.requestReviewers({ ...target, pull_number: number, reviewers: [reviewer], request });
      notes.push(...(await tryMark(`GitHub did not accept the reviewer ${reviewer}.`, () => change(set))));
    }
    return notes;
  }

  const merges: MergeRequests = {
    forge,
    async read(address) {
      const found = await answered(readSchema, address, showing(address));
      const { mergeable, merge_commit_sha: commit } = found;
      const { state, draft } = presented(found);
      return {
        state,
        draft,
        headCommit: found.head.sha,
        // before the merge, it is that of a test
        mergeCommit: state === 'merged' ? (commit ?? null) : null,
        isPending: typeof mergeable !== 'boolean',
        obstacle: obstacleOf(found),
      };
    },
    async send({ id, method, headCommit, repository, signal }) {
      const target = repositoryOf(repository);
      const merge = { pull_number: Number(id), merge_method: method, sha: headCommit };
      try {
        await ask(target, signal, (octokit, request) => octokit.rest.pulls.merge({ ...target, ...merge, request }));
      } catch (error) {
        throw mergeFailureOf(error, signal);
      }
    },
  };

  const showing =
    ({ id }: PullRequestAddress) =>
    (target: GithubRepository): Call =>
    (octokit, request) =>
      octokit.rest.pulls.get({ ...target, pull_number: Number(id), request });

  return {
    ...(credential.revoke === undefined ? {} : { revoke: credential.revoke }),
    credential(repository) {
      if (!liesBelow(repository, root)) return null;
      const token = async (options?: { fresh: boolean }) => {
        try {
          return await credential.tokenFor(repositoryOf(repository), options);
        } catch (error) {
          throw githubFailureOf(error, new AbortController().signal);
        }
      };
      return { username: 'x-access-token', token, origin: new URL(root).origin };
    },
    ensurePullRequest: (draft) => ensurePullRequest(requests, draft),
    async pullRequestState(address) {
      const { state, draft } = presented(await answered(pullRequestSchema, address, showing(address)));
      return { state, draft };
    },
    merging: createMerging(merges),
  };
}

function obstacleOf({ mergeable, mergeable_state: standing, base }: z.infer<typeof readSchema>): Obstacle | null {
  if (mergeable === false) return conflictWith(base.ref);
  if (standing === 'blocked')
    return { problem: `GitHub requires reviews or checks before a merge into ${base.ref}.`, cause: 'rules' };
  if (standing === 'behind') {
    const problem = `GitHub requires the branch to be up to date with ${base.ref}. Send the job a message to update it.`;
    return { problem, cause: 'behind' };
  }
  return null;
}

function presented(pullRequest: z.infer<typeof pullRequestSchema>): FoundPullRequest {
  const { number, html_url: url, state, merged_at: mergedAt, title, body, draft = false } = pullRequest;
  const standing: PullRequest['state'] = mergedAt !== null && mergedAt !== undefined ? 'merged' : state;
  return { id: String(number), url, state: standing, title, body: body ?? '', draft };
}
