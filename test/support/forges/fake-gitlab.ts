import { randomUUID } from 'node:crypto';
import type {
  AcceptMergeRequestOptions,
  CreateMergeRequestOptions,
  EditMergeRequestOptions,
  ExpandedMergeRequestSchema,
} from '@gitbeaker/core';
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

/** Ids of the people this server knows. */
const people: Record<string, number> = { octavia: 7, oscar: 8 };
const pageSize = 20;

// no description of GitLab's API is available here, so the traffic is checked against the types of its client
const createFields = ['description'] as const satisfies (keyof CreateMergeRequestOptions)[];
const editFields = [
  'title',
  'description',
  'addLabels',
  'assigneeIds',
  'reviewerIds',
] as const satisfies (keyof EditMergeRequestOptions)[];

const acceptFields = ['sha', 'squash'] as const satisfies (keyof AcceptMergeRequestOptions)[];

/** Starts a server that speaks the part of GitLab's REST interface Docket uses, and serves real git over HTTP. */
export function createFakeGitlab({
  token = `glpat-${randomUUID().replaceAll('-', '').slice(0, 20)}`,
} = {}): Promise<FakeForge> {
  return createFakeForge((origin) => dialectOf(origin, token));
}

function dialectOf(origin: string, token: string): Dialect {
  return {
    token,
    gitUser: 'oauth2',
    read({ method, url }) {
      if (method === 'GET' && url.pathname === '/api/v4/users') return { operation: 'users', fullName: '', rest: '' };
      const [, id = '', rest = ''] = /^\/api\/v4\/projects\/([^/]+)(.*)$/.exec(url.pathname) ?? [];
      return { operation: operationOf(method, rest), fullName: decodeURIComponent(id), rest };
    },
    isAuthorized: (request, tokens) => tokens.has(String(request.headers['private-token'] ?? '')),
    unauthorized: { status: 401, body: { message: '401 Unauthorized' } },
    moved: (location) => ({ status: 301, headers: { location }, body: { message: 'Moved Permanently' } }),
    perform: (call) => perform(call, origin),
    check({ method, url, body }) {
      if (method !== 'POST' && method !== 'PUT') return [];
      const required = ['source_branch', 'target_branch', 'title'];
      const isMerge = url.pathname.endsWith('/merge');
      const changing = isMerge ? acceptFields : editFields;
      const known = method === 'POST' ? [...required, ...createFields.map(snake)] : changing.map(snake);
      return Object.keys(body ?? {})
        .filter((field) => !known.includes(field))
        .map((field) => `${method}: no field ${field}`);
    },
  };
}

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function operationOf(method: string, rest: string): FakeOperation | 'unknown' {
  if (method === 'GET' && rest === '/merge_requests') return 'list';
  if (method === 'POST' && rest === '/merge_requests') return 'create';
  if (method === 'GET' && /^\/merge_requests\/\d+$/.test(rest)) return 'get';
  if (method === 'PUT' && /^\/merge_requests\/\d+$/.test(rest)) return 'update';
  if (method === 'PUT' && /^\/merge_requests\/\d+\/merge$/.test(rest)) return 'merge';
  if (method === 'GET' && rest.startsWith('/repository/branches/')) return 'branch';
  return 'unknown';
}

async function perform(call: FakeCall, origin: string): Promise<FakeAnswer> {
  const { operation, found, fullName, rest, body, url } = call;
  if (operation === 'users') {
    const username = url.searchParams.get('username') ?? '';
    const id = people[username];
    return { status: 200, body: id === undefined ? [] : [{ id, username, name: username, state: 'active' }] };
  }
  if (found === null) return { status: 404, body: { message: '404 Project Not Found' } };
  if (operation === 'branch') {
    const name = decodeURIComponent(rest.slice('/repository/branches/'.length));
    const [commit] = await commitsOf(found, name);
    if (commit === null) return { status: 404, body: { message: '404 Branch Not Found' } };
    return { status: 200, body: { name, commit: { id: commit } } };
  }
  const present = (mergeRequest: FakePullRequest) => presented(mergeRequest, { origin, fullName });
  if (operation === 'list') return listed(found, { url, origin, present });
  if (operation === 'create') return create(call, found, present);
  const mergeRequest = found.pullRequests.find(({ number }) => rest.split('/')[2] === String(number));
  if (mergeRequest === undefined) return { status: 404, body: { message: '404 Not found' } };
  if (operation === 'update') update(mergeRequest, body);
  const refusal = operation === 'merge' ? await merge(found, mergeRequest, body) : null;
  return refusal ?? { status: 200, body: { ...present(mergeRequest), ...(await standingOf(found, mergeRequest)) } };
}

/** Returns why GitLab refuses; null if it merged. */
async function merge(found: FakeRepository, mergeRequest: FakePullRequest, { sha }: any): Promise<FakeAnswer | null> {
  const { state, draft, head, blocked = null } = mergeRequest;
  if (state !== 'open' || draft || blocked === 'rules' || blocked === 'method')
    return { status: 405, body: { message: '405 Method Not Allowed' } };
  if (blocked === 'conflict') return { status: 422, body: { message: 'Branch cannot be merged' } };
  const [headCommit] = await commitsOf(found, head);
  if (sha !== undefined && sha !== headCommit)
    return { status: 409, body: { message: 'SHA does not match HEAD of source branch: ' + headCommit } };
  await mergeFake(found, mergeRequest);
  return null;
}

/** Returns the fields that say whether it can be merged. */
async function standingOf(
  found: FakeRepository,
  mergeRequest: FakePullRequest,
): Promise<
  Pick<
    ExpandedMergeRequestSchema,
    'sha' | 'merge_commit_sha' | 'squash_commit_sha' | 'has_conflicts' | 'detailed_merge_status'
  >
> {
  const { head, base, mergedAt, blocked = null, draft, state } = mergeRequest;
  const [headCommit, baseCommit] = await commitsOf(found, head, base);
  const isPending = (mergeRequest.checks ?? 0) > 0;
  if (isPending) mergeRequest.checks = (mergeRequest.checks ?? 0) - 1;
  const status =
    state === 'closed' ? 'not_open' : blocked === 'rules' ? 'not_approved' : draft ? 'draft_status' : 'mergeable';
  return {
    sha: headCommit ?? 'e'.repeat(40),
    merge_commit_sha: mergedAt === null ? null : (baseCommit ?? null),
    squash_commit_sha: null,
    has_conflicts: blocked === 'conflict',
    detailed_merge_status: isPending ? 'checking' : status,
  };
}

function update(mergeRequest: FakePullRequest, body: any): void {
  if (typeof body.title === 'string') Object.assign(mergeRequest, { title: body.title, draft: isDraft(body.title) });
  if (typeof body.description === 'string') mergeRequest.body = body.description;
  if (typeof body.add_labels === 'string') mergeRequest.labels.push(...body.add_labels.split(','));
  const names = (ids: number[]) => ids.map((id) => Object.keys(people).find((name) => people[name] === id) ?? '?');
  if (Array.isArray(body.assignee_ids)) mergeRequest.assignees = names(body.assignee_ids);
  if (Array.isArray(body.reviewer_ids)) mergeRequest.reviewers = names(body.reviewer_ids);
}

async function create(
  { body, takeRace }: FakeCall,
  found: FakeRepository,
  present: (mergeRequest: FakePullRequest) => unknown,
): Promise<FakeAnswer> {
  const { source_branch: head, target_branch: base, title, description = '' } = body;
  const [headCommit, baseCommit] = await commitsOf(found, head, base);
  if (headCommit === null || baseCommit === null)
    return { status: 400, body: { message: { validate_branches: ['A branch does not exist.'] } } };
  const open = found.pullRequests.find((one) => one.head === head && one.base === base && one.state === 'open');
  const exists = (number: number) => ({
    status: 409,
    body: { message: [`Another open merge request already exists for this source branch: !${number}`] },
  });
  if (open !== undefined) return exists(open.number);
  const hadRival = takeRace();
  const number = found.pullRequests.length + 1;
  const empty = { labels: [], assignees: [], reviewers: [] };
  const made = { number, head, base, title, body: description, draft: isDraft(title), mergedAt: null, ...empty };
  found.pullRequests.push({ ...made, state: 'open' });
  return hadRival ? exists(number) : { status: 201, body: present(found.pullRequests.at(-1)!) };
}

function listed(
  { pullRequests }: FakeRepository,
  { url, origin, present }: { url: URL; origin: string; present(mergeRequest: FakePullRequest): unknown },
): FakeAnswer {
  const head = url.searchParams.get('source_branch');
  const own = pullRequests.filter((one) => head === null || one.head === head).toReversed();
  const size = Math.min(Number(url.searchParams.get('per_page') ?? pageSize), 100);
  const page = Number(url.searchParams.get('page') ?? 1);
  const next = new URL(url.pathname + url.search, origin);
  next.searchParams.set('page', String(page + 1));
  const hasNext = own.length > page * size;
  const headers: Record<string, string> = hasNext ? { link: `<${next.href}>; rel="next"` } : {};
  return { status: 200, headers, body: own.slice((page - 1) * size, page * size).map(present) };
}

function isDraft(title: string): boolean {
  return /^\s*(?:draft:|\[draft\]|\(draft\))/i.test(title);
}

type Answered = Pick<
  ExpandedMergeRequestSchema,
  | 'id'
  | 'iid'
  | 'project_id'
  | 'title'
  | 'description'
  | 'state'
  | 'draft'
  | 'web_url'
  | 'source_branch'
  | 'target_branch'
  | 'source_project_id'
  | 'target_project_id'
  | 'merged_at'
  | 'labels'
>;

function presented(
  { number, title, body, head, base, draft, state, mergedAt, labels }: FakePullRequest,
  { origin, fullName }: { origin: string; fullName: string },
): Answered {
  return {
    id: 1000 + number,
    iid: number,
    project_id: 42,
    source_project_id: 42,
    target_project_id: 42,
    title,
    description: body,
    state: mergedAt !== null ? 'merged' : state === 'open' ? 'opened' : 'closed',
    draft,
    web_url: `${origin}/${fullName}/-/merge_requests/${number}`,
    source_branch: head,
    target_branch: base,
    merged_at: mergedAt ?? '',
    labels,
  };
}
