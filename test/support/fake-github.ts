import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gitRequestOf, serveGit } from './fake-github-git.ts';
import { createTestRepository, type TestFiles, type TestRepository } from './git-repository.ts';

export type FakeOperation = 'list' | 'get' | 'create' | 'update' | 'repository' | 'git-read' | 'git-write';

/** What goes wrong once. `after` lets the request take effect first, so that only its answer is lost or changed. */
export interface FakeFault {
  on: FakeOperation;
  /** Null cuts the connection instead of answering. */
  status: number | null;
  headers?: Record<string, string>;
  body?: unknown;
  after?: boolean;
}

export interface FakePullRequest {
  number: number;
  title: string;
  body: string;
  head: string;
  base: string;
  draft: boolean;
  state: 'open' | 'closed';
  mergedAt: string | null;
}

export interface FakeRequest {
  operation: FakeOperation | 'unknown';
  method: string;
  path: string;
  authorization: string | null;
  body: unknown;
}

export interface FakeGithub extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`: repositories lie at `${origin}/<owner>/<name>`; git needs the transport `http` for it. */
  origin: string;
  /** The base of the REST interface, as an Enterprise server has it. */
  apiUrl: string;
  token: string;
  requests: FakeRequest[];
  /** Called at each request before it is answered. */
  onRequest: ((request: FakeRequest) => void) | null;
  /** Requests that nobody planned for; a test ends by expecting none. */
  violations: string[];
  addRepository(fullName: string, files?: TestFiles | null): Promise<TestRepository & { url: string }>;
  pullRequests(fullName: string): FakePullRequest[];
  /** Queues a fault for the next request of its operation. */
  fail(fault: FakeFault): void;
  /** Makes another client create the pull request just before the next `create` arrives, which then answers 422. */
  raceNextCreate(): void;
}

interface Repository {
  repository: TestRepository;
  pullRequests: FakePullRequest[];
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
}

/** Starts a server that speaks the part of GitHub's REST interface Docket uses, and serves real git over HTTP. */
export async function createFakeGithub({ token = 'ghs_fakeTOKEN0123456789abcdefghij' } = {}): Promise<FakeGithub> {
  const repositories = new Map<string, Repository>();
  const requests: FakeRequest[] = [];
  const violations: string[] = [];
  const faults: FakeFault[] = [];
  let isRacing = false;

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const work =
      gitRequestOf(url) === null ? answerRest({ request, response, url }) : answerGit({ request, response, url });
    work.catch((error: unknown) => {
      violations.push(String(error));
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;

  function record(request: FakeRequest): void {
    requests.push(request);
    fake.onRequest?.(request);
  }

  /** A fault that comes after the effect waits for a request that has one. */
  function takeFault(operation: FakeOperation, hasEffect: boolean): FakeFault | null {
    const at = faults.findIndex(({ on, after = false }) => on === operation && (hasEffect || !after));
    return at < 0 ? null : (faults.splice(at, 1)[0] ?? null);
  }

  function applyFault({ status, headers = {}, body = { message: 'Fault' } }: FakeFault, { response }: Exchange): void {
    if (status === null) return void response.destroy();
    send(response, status, body, headers);
  }

  async function answerGit(exchange: Exchange): Promise<void> {
    const { request, response, url } = exchange;
    const asked = gitRequestOf(url)!;
    const operation = asked.isWrite ? 'git-write' : 'git-read';
    const authorization = request.headers.authorization ?? null;
    record({ operation, method: request.method ?? '', path: url.pathname, authorization, body: null });
    const expected = `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`;
    if (authorization !== expected) {
      request.resume();
      response.writeHead(401, { 'www-authenticate': 'Basic realm="GitHub"' }).end();
      return;
    }
    const fault = takeFault(operation, request.method === 'POST');
    if (fault !== null && fault.after !== true) {
      request.resume();
      return applyFault(fault, exchange);
    }
    const found = repositories.get(`${asked.owner}/${asked.name}`);
    if (found === undefined) {
      request.resume();
      return send(response, 404, { message: 'Not Found' });
    }
    const query = url.search.slice(1);
    serveGit(request, response, { repository: found.repository.path, path: asked.path, query, isLost: fault !== null });
  }

  async function answerRest(exchange: Exchange): Promise<void> {
    const { request, response, url } = exchange;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const body = text === '' ? null : JSON.parse(text);
    const [, fullName = '', rest = ''] = /^\/api\/v3\/repos\/([^/]+\/[^/]+)(.*)$/.exec(url.pathname) ?? [];
    const operation = operationOf(request.method ?? '', rest);
    const authorization = request.headers.authorization ?? null;
    record({ operation, method: request.method ?? '', path: url.pathname + url.search, authorization, body });
    if (operation === 'unknown') {
      violations.push(`${request.method} ${url.pathname}`);
      return send(response, 404, { message: 'Not Found' });
    }
    if (authorization !== `token ${token}` && authorization !== `Bearer ${token}`) {
      return send(response, 401, { message: 'Bad credentials' });
    }
    const fault = takeFault(operation, true);
    if (fault !== null && fault.after !== true) return applyFault(fault, exchange);
    const found = repositories.get(fullName);
    const answer = found === undefined ? notFound : await perform({ operation, found, fullName, rest, body, url });
    if (fault !== null) return applyFault(fault, exchange);
    send(response, answer.status, answer.body);
  }

  async function perform(call: {
    operation: FakeOperation;
    found: Repository;
    fullName: string;
    rest: string;
    body: any;
    url: URL;
  }): Promise<{ status: number; body: unknown }> {
    const { operation, found, fullName, rest, body, url } = call;
    const present = (pullRequest: FakePullRequest) => presented(pullRequest, { origin, fullName });
    if (operation === 'repository') return { status: 200, body: { full_name: fullName, default_branch: 'main' } };
    if (operation === 'list') {
      const [, head = ''] = url.searchParams.get('head')?.split(':') ?? [];
      const state = url.searchParams.get('state') ?? 'open';
      const listed = found.pullRequests.filter((one) => one.head === head && (state === 'all' || one.state === state));
      return { status: 200, body: listed.toReversed().map(present) };
    }
    if (operation === 'get' || operation === 'update') {
      const pullRequest = found.pullRequests.find(({ number }) => `/pulls/${number}` === rest);
      if (pullRequest === undefined) return notFound;
      if (operation === 'update') Object.assign(pullRequest, body);
      return { status: 200, body: present(pullRequest) };
    }
    const { head, base, title, body: description = '', draft = false } = body;
    const refusal = await refusalOf(found, { head, base });
    if (refusal !== null) return refusal;
    const hadRival = isRacing;
    isRacing = false;
    const made = { head, base, draft, title, body: description };
    const number = found.pullRequests.length + 1;
    found.pullRequests.push({ ...made, number, state: 'open', mergedAt: null });
    if (hadRival) return alreadyExists(`${fullName.split('/')[0]}:${head}`);
    return { status: 201, body: present(found.pullRequests.at(-1)!) };
  }

  async function refusalOf({ repository, pullRequests }: Repository, { head, base }: { head: string; base: string }) {
    const commitOf = (branch: string) =>
      repository.git('rev-parse', '--verify', `refs/heads/${branch}`).catch(() => null);
    const [headCommit, baseCommit] = await Promise.all([commitOf(head), commitOf(base)]);
    if (headCommit === null) return invalid({ resource: 'PullRequest', field: 'head', code: 'invalid' });
    if (baseCommit === null) return invalid({ resource: 'PullRequest', field: 'base', code: 'invalid' });
    if (headCommit === baseCommit) {
      return invalid({ resource: 'PullRequest', code: 'custom', message: `No commits between ${base} and ${head}` });
    }
    return pullRequests.some((one) => one.head === head && one.state === 'open') ? alreadyExists(head) : null;
  }

  const fake: FakeGithub = {
    origin,
    apiUrl: `${origin}/api/v3`,
    token,
    requests,
    onRequest: null,
    violations,
    async addRepository(fullName, files) {
      const repository = await createTestRepository(files);
      await repository.git('config', 'http.receivepack', 'true');
      repositories.set(fullName, { repository, pullRequests: [] });
      return { ...repository, url: `${origin}/${fullName}` };
    },
    pullRequests: (fullName) => repositories.get(fullName)?.pullRequests ?? [],
    fail: (fault) => void faults.push(fault),
    raceNextCreate: () => {
      isRacing = true;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      for (const { repository } of repositories.values()) await repository[Symbol.asyncDispose]();
    },
  };
  return fake;
}

const notFound = { status: 404, body: { message: 'Not Found' } };

function operationOf(method: string, rest: string): FakeOperation | 'unknown' {
  if (method === 'GET' && rest === '') return 'repository';
  if (method === 'GET' && rest === '/pulls') return 'list';
  if (method === 'POST' && rest === '/pulls') return 'create';
  if (method === 'GET' && /^\/pulls\/\d+$/.test(rest)) return 'get';
  if (method === 'PATCH' && /^\/pulls\/\d+$/.test(rest)) return 'update';
  return 'unknown';
}

function invalid(error: Record<string, string>) {
  return { status: 422, body: { message: 'Validation Failed', errors: [error] } };
}

function alreadyExists(head: string) {
  return invalid({ resource: 'PullRequest', code: 'custom', message: `A pull request already exists for ${head}.` });
}

function presented(pullRequest: FakePullRequest, { origin, fullName }: { origin: string; fullName: string }) {
  const { number, title, body, draft, state, head, base, mergedAt } = pullRequest;
  return {
    number,
    title,
    body: body === '' ? null : body,
    draft,
    state,
    merged_at: mergedAt,
    html_url: `${origin}/${fullName}/pull/${number}`,
    head: { ref: head, label: `${fullName.split('/')[0]}:${head}` },
    base: { ref: base },
  };
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    .end(JSON.stringify(body));
}
