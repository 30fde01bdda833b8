import { createPublicKey, randomUUID, verify } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  commitsOf,
  createFakeForge,
  mergeFake,
  type Dialect,
  type FakeAnswer,
  type FakeCall,
  type FakeForge,
  type FakeOperation,
  type FakePullRequest,
  type FakeRepository,
} from './fake-forge.ts';
import type { Certificate } from '../servers/test-authority.ts';
import { checkGithubTraffic, githubExample } from './github-description.ts';

export interface FakeGithub extends FakeForge {
  /** The base of the REST interface, as an Enterprise server has it. */
  apiUrl: string;
}

export interface FakeGithubOptions {
  token?: string;
  /** A GitHub App that is installed on every repository; each of its tokens is added to `tokens`. */
  app?: { appId: string; publicKey: string };
  /** For localhost; without one, the server speaks http. */
  certificate?: Certificate;
}

const prefix = '/api/v3';
const documentation = 'https://docs.github.com/rest/pulls/pulls';

/** Starts a server that speaks the part of GitHub's REST interface Docket uses, and serves real git over HTTP. */
export async function createFakeGithub({
  // of this server only: tests look for it in all processes of the machine, which may run the same tests
  token = `ghs_${randomUUID().replaceAll('-', '')}`,
  app,
  certificate,
}: FakeGithubOptions = {}): Promise<FakeGithub> {
  const fake = await createFakeForge((origin) => dialectOf({ origin, token, app, mint, revoke }), certificate);

  function mint(): string {
    const made = `ghs_${randomUUID().replaceAll('-', '')}`;
    fake.tokens.add(made);
    return made;
  }

  function revoke(revoked: string): void {
    fake.tokens.delete(revoked);
  }

  return Object.assign(fake, { apiUrl: `${fake.origin}${prefix}` });
}

function dialectOf({
  origin,
  token,
  app,
  mint,
  revoke,
}: {
  origin: string;
  token: string;
  app: FakeGithubOptions['app'];
  mint(): string;
  revoke(token: string): void;
}): Dialect {
  return {
    token,
    gitUser: 'x-access-token',
    read({ method, url }) {
      const [, fullName = '', rest = ''] = /^\/api\/v3\/repos\/([^/]+\/[^/]+)(.*)$/.exec(url.pathname) ?? [];
      const isMint = method === 'POST' && url.pathname === `${prefix}/app/installations/17/access_tokens`;
      if (method === 'DELETE' && url.pathname === `${prefix}/installation/token`)
        return { operation: 'revoke', fullName, rest };
      return { operation: isMint ? 'token' : operationOf(method, fullName === '' ? '-' : rest), fullName, rest };
    },
    isAuthorized(request, tokens) {
      const [, kind, given = ''] = /^(token|bearer) (.+)$/i.exec(request.headers.authorization ?? '') ?? [];
      if (kind === undefined) return false;
      return isAppRequest(request) ? app !== undefined && isSigned(given, app) : tokens.has(given);
    },
    unauthorized: { status: 401, body: { message: 'Bad credentials', documentation_url: documentation } },
    moved: (location, method) => ({
      status: method === 'GET' ? 301 : 307,
      headers: { location },
      body: { message: 'Moved Permanently', url: location, documentation_url: documentation },
    }),
    perform: (call) => perform(call, { origin, mint, revoke }),
    check({ method, url, body, answer }) {
      if (answer.status === 307 || answer.status === 301) return [];
      const path = url.pathname.slice(prefix.length);
      return checkGithubTraffic({ method, path, query: url.searchParams, body, answer });
    },
  };
}

function operationOf(method: string, rest: string): FakeOperation | 'unknown' {
  if (method === 'GET' && rest === '/installation') return 'installation';
  if (method === 'GET' && rest === '/pulls') return 'list';
  if (method === 'POST' && rest === '/pulls') return 'create';
  if (method === 'GET' && /^\/pulls\/\d+$/.test(rest)) return 'get';
  if (method === 'PATCH' && /^\/pulls\/\d+$/.test(rest)) return 'update';
  if (method === 'PUT' && /^\/pulls\/\d+\/merge$/.test(rest)) return 'merge';
  if (method === 'POST' && /^\/pulls\/\d+\/requested_reviewers$/.test(rest)) return 'reviewers';
  if (method === 'POST' && /^\/issues\/\d+\/labels$/.test(rest)) return 'labels';
  if (method === 'POST' && /^\/issues\/\d+\/assignees$/.test(rest)) return 'assignees';
  return 'unknown';
}

async function perform(
  call: FakeCall,
  { origin, mint, revoke }: { origin: string; mint(): string; revoke(token: string): void },
): Promise<FakeAnswer> {
  const { operation, found, fullName, rest, body, url } = call;
  if (operation === 'token') {
    const example = githubExample('post /app/installations/{installation_id}/access_tokens 201');
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const answer = { ...example, token: mint(), expires_at: expiresAt, permissions: body.permissions };
    return { status: 201, body: answer };
  }
  if (operation === 'revoke') {
    revoke(call.authorization?.split(' ').at(-1) ?? '');
    return { status: 204, body: null };
  }
  if (found === null) return notFound;
  if (operation === 'installation') {
    return { status: 200, body: { ...githubExample('get /repos/{owner}/{repo}/installation 200'), id: 17 } };
  }
  const present = (pullRequest: FakePullRequest) => presented(pullRequest, { origin, fullName });
  if (operation === 'list') return listed(found, url, (one) => inList(present(one)));
  if (operation === 'create') return create(call, found, present);
  const pullRequest = found.pullRequests.find(({ number }) => rest.split('/')[2] === String(number));
  if (pullRequest === undefined) return notFound;
  if (operation === 'update') Object.assign(pullRequest, body);
  if (operation === 'merge') return merge(found, pullRequest, body);
  if (operation === 'get' || operation === 'update')
    return { status: 200, body: await withStanding(found, pullRequest, present(pullRequest)) };
  return mark(operation, pullRequest, { body, present });
}

async function create(
  { body, fullName, takeRace }: FakeCall,
  found: FakeRepository,
  present: (pullRequest: FakePullRequest) => unknown,
): Promise<FakeAnswer> {
  const { head, base, title, body: description = '', draft = false } = body;
  const refusal = await refusalOf(found, { head, base });
  if (refusal !== null) return refusal;
  if (found.pullRequests.some((one) => one.head === head && one.state === 'open')) return alreadyExists(head);
  const hadRival = takeRace();
  const made = { head, base, draft, title, body: description, labels: [], assignees: [], reviewers: [] };
  const number = found.pullRequests.length + 1;
  found.pullRequests.push({ ...made, number, state: 'open', mergedAt: null });
  if (hadRival) return alreadyExists(`${fullName.split('/')[0]}:${head}`);
  return { status: 201, body: present(found.pullRequests.at(-1)!) };
}

async function merge(found: FakeRepository, pullRequest: FakePullRequest, { sha, merge_method: method }: any) {
  const [head] = await commitsOf(found, pullRequest.head);
  const refused = (status: number, message: string) => ({
    status,
    body: { message, documentation_url: documentation },
  });
  const { blocked = null } = pullRequest;
  if (pullRequest.state !== 'open' || pullRequest.draft || blocked === 'conflict')
    return refused(405, 'Pull Request is not mergeable');
  if (blocked === 'rules')
    return refused(405, 'At least 1 approving review is required by reviewers with write access.');
  if (blocked === 'method' && method === 'merge')
    return refused(405, 'Merge commits are not allowed on this repository.');
  if (sha !== undefined && sha !== head)
    return refused(409, 'Head branch was modified. Review and try the merge again.');
  const example = githubExample('put /repos/{owner}/{repo}/pulls/{pull_number}/merge 200');
  return { status: 200, body: { ...example, sha: await mergeFake(found, pullRequest) } };
}

/** Adds the fields that say whether it can be merged, which only its own address has. */
async function withStanding(found: FakeRepository, pullRequest: FakePullRequest, shown: any) {
  const { head, base, state, blocked = null, draft } = pullRequest;
  const [headCommit, baseCommit] = await commitsOf(found, head, base);
  const isPending = (pullRequest.checks ?? 0) > 0;
  if (isPending) pullRequest.checks = (pullRequest.checks ?? 0) - 1;
  const standing = blocked === 'conflict' ? 'dirty' : blocked === 'rules' ? 'blocked' : draft ? 'draft' : 'clean';
  return {
    ...shown,
    merge_commit_sha: baseCommit,
    head: { ...shown.head, sha: headCommit ?? 'e'.repeat(40) },
    mergeable: isPending || state === 'closed' ? null : blocked !== 'conflict',
    mergeable_state: isPending ? 'unknown' : standing,
  };
}

function listed({ pullRequests }: FakeRepository, url: URL, present: (pullRequest: FakePullRequest) => unknown) {
  const [, head = ''] = url.searchParams.get('head')?.split(':') ?? [];
  const state = url.searchParams.get('state') ?? 'open';
  const own = pullRequests.filter((one) => one.head === head && (state === 'all' || one.state === state));
  return { status: 200, body: own.toReversed().map(present) };
}

/** Only people whose names begin with `oct` are collaborators. */
function mark(
  operation: FakeOperation,
  pullRequest: FakePullRequest,
  { body, present }: { body: any; present: (pullRequest: FakePullRequest) => any },
): FakeAnswer {
  if (operation === 'labels') {
    pullRequest.labels = [...new Set([...pullRequest.labels, ...body.labels])];
    const [example] = githubExample('post /repos/{owner}/{repo}/issues/{issue_number}/labels 200');
    return { status: 200, body: pullRequest.labels.map((name) => ({ ...example, name })) };
  }
  if (operation === 'assignees') {
    pullRequest.assignees = [...new Set([...pullRequest.assignees, ...body.assignees])];
    return { status: 201, body: githubExample('post /repos/{owner}/{repo}/issues/{issue_number}/assignees 201') };
  }
  const isKnown = body.reviewers.every((name: string) => name.startsWith('oct'));
  if (!isKnown) return invalid({ resource: 'PullRequest', code: 'custom', message: 'Reviews may only be requested.' });
  pullRequest.reviewers = [...new Set([...pullRequest.reviewers, ...body.reviewers])];
  return { status: 201, body: inList(present(pullRequest)) };
}

async function refusalOf(found: FakeRepository, { head, base }: { head: string; base: string }) {
  const [headCommit, baseCommit] = await commitsOf(found, head, base);
  if (headCommit === null) return invalid({ resource: 'PullRequest', field: 'head', code: 'invalid' });
  if (baseCommit === null) return invalid({ resource: 'PullRequest', field: 'base', code: 'invalid' });
  if (headCommit === baseCommit) {
    return invalid({ resource: 'PullRequest', code: 'custom', message: `No commits between ${base} and ${head}` });
  }
  return null;
}

const notFound = { status: 404, body: { message: 'Not Found', documentation_url: documentation } };

function invalid(error: Record<string, string>): FakeAnswer {
  const body = { message: 'Validation Failed', errors: [error], documentation_url: documentation };
  return { status: 422, body };
}

function alreadyExists(head: string): FakeAnswer {
  return invalid({ resource: 'PullRequest', code: 'custom', message: `A pull request already exists for ${head}.` });
}

function presented(pullRequest: FakePullRequest, { origin, fullName }: { origin: string; fullName: string }): any {
  const { number, title, body, draft, state, head, base, mergedAt } = pullRequest;
  const example = githubExample('get /repos/{owner}/{repo}/pulls/{pull_number} 200');
  return {
    ...example,
    // the team in GitHub's example lacks what its description requires
    requested_teams: [],
    number,
    title,
    body: body === '' ? null : body,
    draft,
    state,
    merged: mergedAt !== null,
    merged_at: mergedAt,
    html_url: `${origin}/${fullName}/pull/${number}`,
    head: { ...example.head, ref: head, label: `${fullName.split('/')[0]}:${head}` },
    base: { ...example.base, ref: base },
  };
}

/** Returns the fields of a pull request in a list, which are fewer than at its own address. */
function inList(pullRequest: any): any {
  const [example] = githubExample('get /repos/{owner}/{repo}/pulls 200');
  return Object.fromEntries(
    Object.keys(example).map((key) => [key, key in pullRequest ? pullRequest[key] : example[key]]),
  );
}

/** Reports whether an app authenticates a request with a token that it signs itself. */
function isAppRequest(request: IncomingMessage): boolean {
  return /\/installation$|^\/api\/v3\/app\//.test(new URL(request.url ?? '/', 'http://x').pathname);
}

function isSigned(token: string, { appId, publicKey }: { appId: string; publicKey: string }): boolean {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const { iss, iat, exp } = JSON.parse(Buffer.from(payload, 'base64url').toString() || '{}');
  const now = Date.now() / 1000;
  if (String(iss) !== appId || !(iat <= now && exp > now && exp - now <= 600)) return false;
  const data = Buffer.from(`${header}.${payload}`);
  return verify('RSA-SHA256', data, createPublicKey(publicKey), Buffer.from(signature, 'base64url'));
}
