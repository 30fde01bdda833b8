import type { Octokit } from '@octokit/rest';
import { z } from 'zod';
import { createEgress, type Egress } from '../../lib/network/egress.ts';
import type { FoundPullRequest } from './ensure-pull-request.ts';
import { createHostedForge } from './hosted-forge.ts';
import { conflictWith, type Obstacle } from './merge-pull-request.ts';
import { failureOfAnswer } from './forge-failure.ts';
import { linkSchema, maxPageSize, pageOf } from './forge-http.ts';
import { repositoryPath } from './repository-path.ts';
import { ForgeError, type Forge, type PullRequest, type PullRequestDraft } from './forge.ts';
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

  return createHostedForge({
    forge,
    root,
    revoke: credential.revoke,
    credentialOf(repository) {
      const token = async (options?: { fresh: boolean }) => {
        try {
          return await credential.tokenFor(repositoryOf(repository), options);
        } catch (error) {
          throw githubFailureOf(error, new AbortController().signal);
        }
      };
      return { username: 'x-access-token', token };
    },
    async find(draft) {
      const { head } = draft;
      const found = await answered(pageOf(pullRequestSchema), draft, (target) => (octokit, request) => {
        const filter = { head: `${target.owner}:${head}`, state: 'all' as const, per_page: maxPageSize };
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
    async mark({ id }, { kind, names }, draft) {
      const number = Number(id);
      await answered(z.unknown(), draft, (target) => ({ rest: { issues, pulls } }, request) => {
        if (kind === 'labels') return issues.addLabels({ ...target, issue_number: number, labels: names, request });
        if (kind === 'assignees')
          return issues.addAssignees({ ...target, issue_number: number, assignees: names, request });
        return pulls.requestReviewers({ ...target, pull_number: number, reviewers: names, request });
      });
      return [];
    },
    // GitHub refuses all reviewers when one of them may not review
    takesReviewersTogether: false,
    async read(address) {
      const found = await answered(
        readSchema,
        address,
        (target) => (octokit, request) =>
          octokit.rest.pulls.get({ ...target, pull_number: Number(address.id), request }),
      );
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
  });
}

function obstacleOf({ mergeable, mergeable_state: mergeState, base }: z.infer<typeof readSchema>): Obstacle | null {
  if (mergeable === false) return conflictWith(base.ref);
  if (mergeState === 'blocked')
    return { problem: `GitHub requires reviews or checks before a merge into ${base.ref}.`, cause: 'rules' };
  if (mergeState === 'behind') {
    const problem = `GitHub requires the branch to be up to date with ${base.ref}. Send the job a message to update it.`;
    return { problem, cause: 'behind' };
  }
  return null;
}

function presented(pullRequest: z.infer<typeof pullRequestSchema>): FoundPullRequest {
  const { number, html_url: url, state, merged_at: mergedAt, title, body, draft = false } = pullRequest;
  const prState: PullRequest['state'] = mergedAt !== null && mergedAt !== undefined ? 'merged' : state;
  return { id: String(number), url, state: prState, title, body: body ?? '', draft };
}
