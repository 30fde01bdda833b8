import { Octokit } from '@octokit/rest';
import { z } from 'zod';
import { ForgeError, type Forge, type PullRequest, type PullRequestDraft } from './forge.ts';
import { githubFailureOf, isAlreadyExists } from './github-failure.ts';

export interface GithubOptions {
  token: string;
  /** `https://api.github.com`, or `https://<host>/api/v3` of an Enterprise server. */
  apiUrl: string;
}

const requestTimeoutMs = 30_000;

const pullRequestSchema = z.object({
  number: z.number().int(),
  html_url: z.url({ protocol: /^https?$/ }),
  state: z.enum(['open', 'closed']),
  merged_at: z.string().nullish(),
  title: z.string(),
  body: z.string().nullish(),
  head: z.object({ ref: z.string() }),
});
type GithubPullRequest = z.infer<typeof pullRequestSchema>;

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Makes the forge for GitHub and GitHub Enterprise. The token goes to its own server only. */
export function createGithubForge({ token, apiUrl }: GithubOptions): Forge {
  const origin = webOriginOf(apiUrl);
  const octokit = new Octokit({ auth: token, baseUrl: apiUrl.replace(/\/+$/, ''), userAgent: 'docket', log: silent });

  async function ensurePullRequest(draft: PullRequestDraft & { beforeEffect(): Promise<void> }): Promise<PullRequest> {
    const place = placeOf(draft.repository, origin);
    const existing = await find(draft, place);
    if (existing !== null) return presented(await update(draft, place, existing));
    await draft.beforeEffect();
    try {
      return presented(await create(draft, place));
    } catch (error) {
      if (!isAlreadyExists(error)) throw githubFailureOf(error, draft.signal);
      const other = await find(draft, place);
      // Its list may lag behind what it refuses: another attempt finds it
      if (other === null)
        throw new ForgeError('unavailable', 'GitHub has a pull request for the branch and does not list it yet.');
      return presented(await update(draft, place, other));
    }
  }

  async function find({ head, signal }: PullRequestDraft, place: Place): Promise<GithubPullRequest | null> {
    const found = await asked(signal, (request) =>
      octokit.rest.pulls.list({ ...place, head: `${place.owner}:${head}`, state: 'all', per_page: 100, request }),
    );
    // Servers that only resemble GitHub answer every pull request
    const own = found.filter((pullRequest) => pullRequest.head.ref === head);
    return own.find(({ state }) => state === 'open') ?? own[0] ?? null;
  }

  async function create({ head, base, title, body, draft, signal }: PullRequestDraft, place: Place) {
    const request = requestOptions(signal);
    const { data } = await octokit.rest.pulls.create({ ...place, head, base, title, body, draft, request });
    return parsed(pullRequestSchema, data);
  }

  async function update(
    { title, body, signal, beforeEffect }: PullRequestDraft & { beforeEffect(): Promise<void> },
    place: Place,
    existing: GithubPullRequest,
  ): Promise<GithubPullRequest> {
    if (existing.title === title && (existing.body ?? '') === body) return existing;
    await beforeEffect();
    try {
      const request = requestOptions(signal);
      const { data } = await octokit.rest.pulls.update({
        ...place,
        pull_number: existing.number,
        title,
        body,
        request,
      });
      return parsed(pullRequestSchema, data);
    } catch (error) {
      throw githubFailureOf(error, signal);
    }
  }

  async function asked(
    signal: AbortSignal,
    ask: (request: { signal: AbortSignal }) => Promise<{ data: unknown }>,
  ): Promise<GithubPullRequest[]> {
    try {
      return parsed(z.array(pullRequestSchema), (await ask(requestOptions(signal))).data);
    } catch (error) {
      throw githubFailureOf(error, signal);
    }
  }

  async function pullRequestState({ repository, id, signal }: { repository: string; id: string; signal: AbortSignal }) {
    const place = { ...placeOf(repository, origin), pull_number: Number(id) };
    try {
      const { data } = await octokit.rest.pulls.get({ ...place, request: requestOptions(signal) });
      return presented(parsed(pullRequestSchema, data)).state;
    } catch (error) {
      throw githubFailureOf(error, signal);
    }
  }

  return {
    credential(repository) {
      if (URL.parse(repository)?.origin !== origin) return null;
      return { username: 'x-access-token', token: async () => token, origin };
    },
    ensurePullRequest,
    pullRequestState,
  };
}

interface Place {
  owner: string;
  repo: string;
}

/** Where people and git reach the server whose API this is. */
function webOriginOf(apiUrl: string): string {
  const { origin, hostname } = new URL(apiUrl);
  return hostname === 'api.github.com' ? 'https://github.com' : origin;
}

function placeOf(repository: string, origin: string): Place {
  const url = URL.parse(repository);
  const [, owner, repo, ...rest] = url?.pathname.replace(/\.git$/, '').split('/') ?? [];
  if (url?.origin !== origin || !owner || !repo || rest.length > 0) {
    throw new ForgeError('not-found', 'The repository does not lie on the GitHub server that this worker knows.');
  }
  return { owner, repo };
}

function requestOptions(signal: AbortSignal): { signal: AbortSignal } {
  return { signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]) };
}

function parsed<Value>(schema: z.ZodType<Value>, data: unknown): Value {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  throw new ForgeError('unavailable', 'GitHub answered with something that is no pull request.');
}

function presented({ number, html_url: url, state, merged_at: mergedAt }: GithubPullRequest): PullRequest {
  const isMerged = mergedAt !== null && mergedAt !== undefined;
  return { id: String(number), url, state: isMerged ? 'merged' : state };
}
