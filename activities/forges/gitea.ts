import { z } from 'zod';
import { createEgress, type Egress } from '../../lib/network/egress.ts';
import type { FoundPullRequest, MarksOfKind } from './ensure-pull-request.ts';
import { failureOfAnswer } from './forge-failure.ts';
import { askForge, linkSchema, maxPages, pageOf, sendToForge, type ForgeResponse } from './forge-http.ts';
import { createHostedForge } from './hosted-forge.ts';
import { conflictWith } from './merge-pull-request.ts';
import { repositoryPath } from './repository-path.ts';
import { ForgeError, type Forge, type PullRequest, type PullRequestDraft } from './forge.ts';
import { trimEndSlashes } from '../../lib/trim-end-slashes.ts';

export interface GiteaOptions {
  token: string;
  /** Web address of the server, e.g. `https://codeberg.org`. */
  url: string;
  pageSize?: number;
  egress?: Egress;
}

interface Call {
  method?: 'GET' | 'POST' | 'PATCH';
  /** Relative to the repository's API path. */
  path: string;
  body?: object;
}

const forge = 'Gitea';
const draftPrefix = 'WIP: ';
const draftPattern = /^\s*(?:wip:|\[wip\])\s*/i;
const pullRequestSchema = z.object({
  number: z.number().int(),
  html_url: linkSchema,
  state: z.enum(['open', 'closed']),
  merged: z.boolean(),
  title: z.string(),
  body: z.string().nullish(),
  draft: z.boolean().optional(),
  // a fork's branch has the label `owner:branch`, a branch of the repository itself just its name
  head: z.object({ ref: z.string(), label: z.string().optional() }),
});
const readSchema = pullRequestSchema.extend({
  head: z.object({ ref: z.string(), sha: z.string() }),
  base: z.object({ ref: z.string() }),
  merge_commit_sha: z.string().nullish(),
  mergeable: z.boolean().catch(true),
});
const refusalSchema = z.object({ message: z.string() });
const labelsSchema = pageOf(z.object({ name: z.string() }));

/** Creates the forge for Gitea and Forgejo. The token is sent only to its own server. */
export function createGiteaForge({ token, url, pageSize = 50, egress = createEgress() }: GiteaOptions): Forge {
  const root = trimEndSlashes(url);

  function requestOf(repository: string, signal: AbortSignal, { method = 'GET', path, body }: Call) {
    const { owner, name } = repositoryPath(repository, { root, forge });
    if (owner.includes('/'))
      throw new ForgeError('not-found', 'The repository address is not a Gitea address with an owner and a name.');
    return {
      forge,
      method,
      url: `${root}/api/v1/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}${path}`,
      headers: { authorization: `token ${token}`, accept: 'application/json', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      egress,
      signal,
    };
  }

  const sent = (repository: string, signal: AbortSignal, call: Call) =>
    sendToForge(requestOf(repository, signal, call));

  /** Returns null for a 404. */
  async function found(repository: string, signal: AbortSignal, path: string): Promise<ForgeResponse | null> {
    const response = await askForge(requestOf(repository, signal, { path }));
    if (response.status === 404) return null;
    if (response.status >= 200 && response.status < 300) return response;
    throw failureOfAnswer({ forge, status: response.status, headers: response.headers });
  }

  /**
   * The lookup by both branches returns any pull request of the two, not necessarily an open one. If it returns a
   * closed one, the list of open ones is searched.
   */
  async function find(draft: PullRequestDraft): Promise<FoundPullRequest | null> {
    const { repository, head, base, signal } = draft;
    const path = `/pulls/${encodeURIComponent(base)}/${encodeURIComponent(head)}`;
    const response = await found(repository, signal, path);
    const direct = response === null ? null : presented(parsed(pullRequestSchema, response.data));
    if (direct !== null && direct.state === 'open') return direct;
    return (await findInList(draft)) ?? direct;
  }

  /** Reads the open pull requests page by page, because the server ignores its filter by head. */
  async function findInList({ repository, head, signal }: PullRequestDraft): Promise<FoundPullRequest | null> {
    for (let page = 1; page <= maxPages; page += 1) {
      const path = `/pulls?state=open&sort=recentupdate&limit=${pageSize}&page=${page}`;
      const { data } = await sent(repository, signal, { path });
      const listed = parsed(pageOf(pullRequestSchema), data);
      const own = listed.find((one) => one.head.ref === head && (one.head.label ?? head) === head);
      if (own !== undefined) return presented(own);
      if (listed.length === 0) return null;
    }
    return null;
  }

  async function create(draft: PullRequestDraft): Promise<FoundPullRequest | null> {
    const { repository, head, base, body, signal } = draft;
    const title = `${draft.draft ? draftPrefix : ''}${draft.title}`;
    const response = await askForge(
      requestOf(repository, signal, { method: 'POST', path: '/pulls', body: { head, base, title, body } }),
    );
    if (response.status === 201) return firstOf(presented(parsed(pullRequestSchema, response.data)), draft);
    if (response.status === 409) return null;
    const failure = failureOfAnswer({ forge, status: response.status, headers: response.headers });
    if (failure.kind !== 'not-found') throw failure;
    throw (await missingPart(draft)) ?? failure;
  }

  /** Closes the new pull request if an older one is open: Gitea creates one for each concurrent request. */
  async function firstOf(made: FoundPullRequest, draft: PullRequestDraft): Promise<FoundPullRequest> {
    const first = await find(draft);
    if (first === null || first.state !== 'open' || Number(first.id) >= Number(made.id)) return made;
    const call = { method: 'PATCH' as const, path: `/pulls/${made.id}`, body: { state: 'closed' } };
    await sent(draft.repository, draft.signal, call);
    return first;
  }

  /** Finds out what a 404 means: Gitea returns it for a missing repository and for a missing branch. */
  async function missingPart({ repository, head, base, signal }: PullRequestDraft): Promise<ForgeError | null> {
    if ((await found(repository, signal, '')) === null) return null;
    const isThere = async (name: string) =>
      (await found(repository, signal, `/branches/${encodeURIComponent(name)}`)) !== null;
    if (!(await isThere(base)))
      return new ForgeError('rejected', 'Gitea rejected the pull request: its base branch does not exist.');
    if (!(await isThere(head)))
      return new ForgeError('rejected', 'Gitea rejected the pull request: its branch does not exist.');
    const needs = 'it needs read and write access to contents and pull requests';
    return new ForgeError('authentication', `The Gitea credential may not do this; ${needs}.`);
  }

  async function mark({ id }: PullRequest, { kind, names }: MarksOfKind, { repository, signal }: PullRequestDraft) {
    if (kind === 'assignees') {
      await sent(repository, signal, { method: 'PATCH', path: `/pulls/${id}`, body: { assignees: names } });
    } else if (kind === 'reviewers') {
      const path = `/pulls/${id}/requested_reviewers`;
      await sent(repository, signal, { method: 'POST', path, body: { reviewers: names } });
    } else {
      const call = { method: 'POST' as const, path: `/issues/${id}/labels`, body: { labels: names } };
      const { data } = await sent(repository, signal, call);
      // Gitea silently ignores labels that it does not have
      const has = new Set(parsed(labelsSchema, data).map(({ name }) => name));
      const missing = names.filter((label) => !has.has(label));
      if (missing.length > 0) return [`Gitea has no label named ${missing.join(', ')}.`];
    }
    return [];
  }

  return createHostedForge({
    forge,
    root,
    credentialOf: () => ({ username: 'oauth2', token: async () => token }),
    find,
    create,
    async update(existing, { repository, signal, body, ...draft }) {
      const title = `${existing.draft ? draftPrefix : ''}${draft.title}`;
      const call = { method: 'PATCH' as const, path: `/pulls/${existing.id}`, body: { title, body } };
      const { data } = await sent(repository, signal, call);
      return presented(parsed(pullRequestSchema, data));
    },
    mark,
    takesReviewersTogether: false,
    async read({ repository, id, signal }) {
      const { data } = await sent(repository, signal, { path: `/pulls/${encodeURIComponent(id)}` });
      const found = parsed(readSchema, data);
      const { state, draft } = presented(found);
      // Gitea does not tell a conflict from a check that has not finished, and calls no draft mergeable
      const isUnclear = !found.mergeable && !draft;
      return {
        state,
        draft,
        headCommit: found.head.sha,
        mergeCommit: state === 'merged' ? (found.merge_commit_sha ?? null) : null,
        isPending: isUnclear,
        obstacle: isUnclear ? conflictWith(found.base.ref) : null,
      };
    },
    async send({ repository, id, method, headCommit, signal }) {
      const path = `/pulls/${encodeURIComponent(id)}/merge`;
      const body = { Do: method, head_commit_id: headCommit };
      const { status, headers, data } = await askForge(requestOf(repository, signal, { method: 'POST', path, body }));
      if (status >= 200 && status < 300) return;
      const failure = failureOfAnswer({ forge, status, headers });
      throw failure.kind === 'rejected' ? new ForgeError('rejected', reasonOf(data)) : failure;
    },
  });
}

/** Returns why Gitea refused a merge; its own words stay out of it. */
function reasonOf(data: unknown): string {
  const message = refusalSchema.safeParse(data).data?.message ?? '';
  if (/merge style/i.test(message))
    return 'The repository does not allow this merge method on Gitea. Choose the other one.';
  if (/not allowed to merge/i.test(message)) return 'The Gitea credential may not merge into this branch.';
  if (/approvals|status checks|rejected|outdated|protected/i.test(message))
    return 'The protection of the base branch on Gitea is not satisfied; it requires reviews or checks.';
  return 'Gitea refused the merge. The pull request on Gitea shows why.';
}

function parsed<Value>(schema: z.ZodType<Value>, data: unknown): Value {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  throw new ForgeError('unavailable', "Gitea's response is not a pull request.");
}

function presented(pullRequest: z.infer<typeof pullRequestSchema>): FoundPullRequest {
  const { number, html_url: url, state, merged, title, body, draft = false } = pullRequest;
  const plain = draft ? title.replace(draftPattern, '') : title;
  return { id: String(number), url, state: merged ? 'merged' : state, title: plain, body: body ?? '', draft };
}
