import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createTestRepository, type TestFiles, type TestRepository } from '../git-repository.ts';
import type { Certificate } from '../servers/test-authority.ts';
import { gitRequestOf, serveGit } from './serve-git.ts';
import { listening } from '../servers/listening.ts';

export type FakeOperation =
  | 'list'
  | 'get'
  | 'create'
  | 'update'
  | 'merge'
  | 'branch'
  | 'users'
  | 'labels'
  | 'assignees'
  | 'reviewers'
  | 'installation'
  | 'token'
  | 'revoke'
  | 'git-read'
  | 'git-write';

/** A fault that occurs once. `after` lets the request take effect first, so that only its response is lost or changed. */
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
  labels: string[];
  assignees: string[];
  reviewers: string[];
  /** Why it cannot be merged; null if it can. */
  blocked?: FakeBlock | null;
  /** Number of responses in which the server is still checking whether it can be merged. */
  checks?: number;
}

/** Cause of a blocked merge. */
export type FakeBlock = 'conflict' | 'rules' | 'method';

export interface FakeRequest {
  operation: FakeOperation | 'unknown';
  method: string;
  path: string;
  authorization: string | null;
  body: unknown;
}

export interface FakeForge extends AsyncDisposable {
  /** Repositories lie at `${origin}/<owner>/<name>`; git needs the transport `http` for one without a certificate. */
  origin: string;
  token: string;
  /** Accepted tokens; initially `token` alone. */
  tokens: Set<string>;
  requests: FakeRequest[];
  /** Called at each request before it is answered. */
  onRequest: ((request: FakeRequest) => void) | null;
  /** Unexpected requests, and traffic that does not match the vendor's own description; a test ends by expecting none. */
  violations: string[];
  addRepository(fullName: string, files?: TestFiles | null): Promise<TestRepository & { url: string }>;
  /** Gives a repository another name: its old address redirects from then on. */
  rename(fullName: string, newName: string): void;
  pullRequests(fullName: string): FakePullRequest[];
  /** Queues a fault for the next request of an operation. */
  fail(fault: FakeFault): void;
  /** Lets another client create the pull request just before the next `create`, which is then refused. */
  raceNextCreate(): void;
}

export interface FakeRepository {
  repository: TestRepository;
  pullRequests: FakePullRequest[];
}

export interface FakeCall {
  operation: FakeOperation;
  /** Null when the request names none, or one that does not exist. */
  found: FakeRepository | null;
  fullName: string;
  /** Below the repository. */
  rest: string;
  body: any;
  url: URL;
  authorization: string | null;
  /** Reports, once, whether another client was first. */
  takeRace(): boolean;
}

export interface FakeAnswer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** The API of one vendor's server. */
export interface Dialect {
  token: string;
  gitUser: string;
  /** The operation and the repository of a request. */
  read(request: { method: string; url: URL }): { operation: FakeOperation | 'unknown'; fullName: string; rest: string };
  isAuthorized(request: IncomingMessage, tokens: ReadonlySet<string>): boolean;
  unauthorized: FakeAnswer;
  moved(location: string, method: string): FakeAnswer;
  perform(call: FakeCall): Promise<FakeAnswer>;
  /** Returns one sentence for each difference between the traffic and the vendor's description. */
  check(traffic: { method: string; url: URL; body: unknown; answer: FakeAnswer }): string[];
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
}

/** Starts a server that speaks the part of a forge's REST interface Docket uses, and serves real git over HTTP or TLS. */
export async function createFakeForge(
  makeDialect: (origin: string) => Dialect,
  certificate: Certificate | null = null,
): Promise<FakeForge> {
  const repositories = new Map<string, FakeRepository>();
  const renamed = new Map<string, string>();
  const requests: FakeRequest[] = [];
  const violations: string[] = [];
  const faults: FakeFault[] = [];
  let isRacing = false;

  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const exchange = { request, response, url };
    const work = gitRequestOf(url) === null ? answerRest(exchange) : answerGit(exchange);
    work.catch((error: unknown) => {
      violations.push(String(error));
      response.destroy();
    });
  };
  const server = certificate === null ? createServer(answer) : createSecureServer(certificate, answer);
  const at = await listening(server);
  const { port } = at;
  const origin = certificate === null ? `http://127.0.0.1:${port}` : `https://localhost:${port}`;
  const dialect = makeDialect(origin);
  const tokens = new Set([dialect.token]);

  function record(request: FakeRequest): void {
    requests.push(request);
    fake.onRequest?.(request);
  }

  /** A fault that comes after the effect waits for a request with an effect. */
  function takeFault(operation: FakeOperation, hasEffect: boolean): FakeFault | null {
    const at = faults.findIndex(({ on, after = false }) => on === operation && (hasEffect || !after));
    return at < 0 ? null : (faults.splice(at, 1)[0] ?? null);
  }

  function applyFault({ status, headers = {}, body = { message: 'Fault' } }: FakeFault, { response }: Exchange): void {
    if (status === null) return void response.destroy();
    send(response, { status, body, headers });
  }

  async function answerGit(exchange: Exchange): Promise<void> {
    const { request, response, url } = exchange;
    const asked = gitRequestOf(url)!;
    const operation = asked.isWrite ? 'git-write' : 'git-read';
    const authorization = request.headers.authorization ?? null;
    record({ operation, method: request.method ?? '', path: url.pathname, authorization, body: null });
    const [user, ...password] = Buffer.from(authorization?.replace(/^Basic /, '') ?? '', 'base64')
      .toString()
      .split(':');
    if (user !== dialect.gitUser || !tokens.has(password.join(':'))) {
      request.resume();
      response.writeHead(401, { 'www-authenticate': 'Basic realm="Forge"' }).end();
      return;
    }
    const fault = takeFault(operation, request.method === 'POST');
    if (fault !== null && fault.after !== true) {
      request.resume();
      return applyFault(fault, exchange);
    }
    const fullName = `${asked.owner}/${asked.name}`;
    const found = repositories.get(fullName);
    if (found === undefined) {
      request.resume();
      const newName = renamed.get(fullName);
      if (newName === undefined) return send(response, { status: 404, body: { message: 'Not Found' } });
      const location = `${origin}/${newName}.git/${asked.path}${url.search}`;
      return send(response, { status: 301, body: '', headers: { location } });
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
    const method = request.method ?? '';
    const { operation, fullName, rest } = dialect.read({ method, url });
    const token = request.headers['private-token'];
    const authorization = request.headers.authorization ?? (typeof token === 'string' ? token : null);
    record({ operation, method, path: url.pathname + url.search, authorization, body });
    if (operation === 'unknown') {
      violations.push(`${method} ${url.pathname} is not known here`);
      return send(response, { status: 404, body: { message: 'Not Found' } });
    }
    if (!dialect.isAuthorized(request, tokens)) return send(response, dialect.unauthorized);
    const fault = takeFault(operation, true);
    if (fault !== null && fault.after !== true) return applyFault(fault, exchange);
    const newName = renamed.get(fullName);
    const found = repositories.get(fullName) ?? null;
    const takeRace = () => {
      const was = isRacing;
      isRacing = false;
      return was;
    };
    const answer =
      newName === undefined
        ? await dialect.perform({ operation, found, fullName, rest, body, url, authorization, takeRace })
        : dialect.moved(`${origin}/moved/${newName}${rest}`, method);
    violations.push(...dialect.check({ method, url, body, answer }));
    if (fault !== null) return applyFault(fault, exchange);
    send(response, answer);
  }

  const fake: FakeForge = {
    origin,
    token: dialect.token,
    tokens,
    requests,
    onRequest: null,
    violations,
    async addRepository(fullName, files) {
      const repository = await createTestRepository(files);
      await repository.git('config', 'http.receivepack', 'true');
      repositories.set(fullName, { repository, pullRequests: [] });
      return { ...repository, url: `${origin}/${fullName}` };
    },
    rename(fullName, newName) {
      const found = repositories.get(fullName);
      if (found === undefined) throw new Error(`There is no ${fullName}.`);
      repositories.delete(fullName);
      repositories.set(newName, found);
      renamed.set(fullName, newName);
    },
    pullRequests: (fullName) => repositories.get(fullName)?.pullRequests ?? [],
    fail: (fault) => void faults.push(fault),
    raceNextCreate: () => {
      isRacing = true;
    },
    async [Symbol.asyncDispose]() {
      await at[Symbol.asyncDispose]();
      for (const { repository } of repositories.values()) await repository[Symbol.asyncDispose]();
    },
  };
  return fake;
}

/** Merges a pull request as a person or another client does. Returns the commit. */
export async function mergeFake({ repository }: FakeRepository, pullRequest: FakePullRequest): Promise<string> {
  const { head, base, number } = pullRequest;
  const tree = await repository.git('merge-tree', '--write-tree', base, head);
  const parents = ['-p', base, '-p', head];
  const commit = await repository.git('commit-tree', tree, ...parents, '-m', `Merge ${number}`);
  await repository.git('update-ref', `refs/heads/${base}`, commit);
  Object.assign(pullRequest, { state: 'closed', mergedAt: '2026-01-01T00:00:00Z' });
  return commit;
}

/** Returns the commit of each branch; null for a branch that does not exist. */
export async function commitsOf({ repository }: FakeRepository, ...branches: string[]): Promise<(string | null)[]> {
  return Promise.all(
    branches.map((branch) => repository.git('rev-parse', '--verify', `refs/heads/${branch}`).catch(() => null)),
  );
}

function send(response: ServerResponse, { status, body, headers = {} }: FakeAnswer): void {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    .end(JSON.stringify(body));
}
