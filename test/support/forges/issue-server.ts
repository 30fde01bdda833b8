import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { reply, startJsonServer, timeOf, token, type JsonServer } from './json-server.ts';

export interface FakeIssue {
  title: string;
  body?: string | null;
  isClosed?: boolean;
  labels?: string[];
  author?: string | null;
  /** Minutes after a fixed time. */
  changedAt: number;
  isPullRequest?: boolean;
  /** GitLab. */
  isConfidential?: boolean;
  comments?: FakeComment[];
}

export interface FakeComment {
  body: string;
  author?: string | null;
  /** GitHub. */
  isMaintainer?: boolean;
  isBot?: boolean;
  /** GitLab: visible to members only, or written by the server. */
  isInternal?: boolean;
  isSystem?: boolean;
}

export type IssueServerKind = 'github' | 'gitlab' | 'gitea';

export interface IssueServer extends JsonServer {
  /** By number. */
  issues: Map<number, FakeIssue>;
  /** Whether requests without the token are answered. */
  isPublic: boolean;
  /** GitLab: a public project whose issues only members see. */
  areIssuesForMembers: boolean;
}

interface IssueRequest {
  url: URL;
  headers: IncomingHttpHeaders;
  isMember: boolean;
}

/** Serves the issues of the repository `acme/docs` as the API of a forge documents it. */
export async function startIssueServer(kind: IssueServerKind, issues: Record<number, FakeIssue>): Promise<IssueServer> {
  const byNumber = new Map(Object.entries(issues).map(([number, issue]) => [Number(number), issue]));
  const base = { github: '/repos/acme/docs', gitea: '/api/v1/repos/acme/docs', gitlab: '/api/v4/projects/acme%2Fdocs' };
  const server = await startJsonServer(({ url, headers, authorization }, response) => {
    if (authorization !== null && authorization !== `Bearer ${token}`) return reply(response, 401, {});
    if (!state.isPublic && authorization === null) return reply(response, 404, { message: 'Not Found' });
    if (!url.pathname.startsWith(base[kind])) return reply(response, 404, { message: 'Not Found' });
    return answer({ url, headers, isMember: authorization !== null }, response);
  });

  function answer(request: IssueRequest, response: ServerResponse): void {
    const { url } = request;
    const path = url.pathname.slice(base[kind].length);
    const repository = { visibility: 'public', issues_access_level: state.areIssuesForMembers ? 'private' : 'enabled' };
    if (path === '') return reply(response, 200, repository);
    if (path === '/issues') return list(request, response);
    const [, number, what] = /^\/issues\/(\d+)\/(comments|notes)$/.exec(path) ?? [];
    const issue = byNumber.get(Number(number));
    if (issue === undefined || what !== (kind === 'gitlab' ? 'notes' : 'comments')) return reply(response, 404, {});
    const size = Number(url.searchParams.get('per_page') ?? 1_000);
    return reply(response, 200, (issue.comments ?? []).slice(0, size).map(commentOf));
  }

  function list({ url: { searchParams, pathname }, headers, isMember }: IssueRequest, response: ServerResponse): void {
    const since = searchParams.get(kind === 'gitlab' ? 'updated_after' : 'since');
    const sizeName = kind === 'gitea' ? 'limit' : 'per_page';
    const [page, size] = [Number(searchParams.get('page')), Number(searchParams.get(sizeName))];
    const isEverything = kind === 'gitlab' ? !searchParams.has('state') : searchParams.get('state') === 'all';
    const wanted = [...byNumber]
      .filter(([, issue]) => kind === 'github' || issue.isPullRequest !== true)
      .filter(([, issue]) => isMember || (issue.isConfidential !== true && !state.areIssuesForMembers))
      .filter(([, { isClosed = true }]) => isEverything || isClosed)
      .filter(([, { changedAt }]) => since === null || timeOf(changedAt) >= new Date(since).toISOString())
      .sort(([, a], [, b]) => b.changedAt - a.changedAt);
    const shown = wanted.slice((page - 1) * size, page * size).map(([number, issue]) => issueOf(number, issue));
    const etag = `"${createHash('sha256').update(JSON.stringify(shown)).digest('hex')}"`;
    if (headers['if-none-match'] === etag) return void response.writeHead(304).end();
    const next = page * size < wanted.length ? `<${state.origin}${pathname}?page=${page + 1}>; rel="next"` : '';
    return reply(response, 200, shown, { etag, link: `${next}${next && ', '}<${state.origin}>; rel="first"` });
  }

  function issueOf(number: number, issue: FakeIssue): object {
    const { title, body = '', isClosed = true, labels = [], author = 'asker', comments = [] } = issue;
    const url = `${state.origin}/acme/docs/issues/${number}`;
    const shared = { title, updated_at: timeOf(issue.changedAt), created_at: timeOf(0) };
    if (kind === 'gitlab')
      return {
        ...shared,
        iid: number,
        id: 1_000 + number,
        web_url: url,
        description: body,
        state: isClosed ? 'closed' : 'opened',
        labels,
        user_notes_count: comments.filter(({ isSystem }) => isSystem !== true).length,
        author: author === null ? null : { id: 1, username: author, name: author },
        confidential: issue.isConfidential === true,
      };
    return {
      ...shared,
      number,
      id: 1_000 + number,
      html_url: url,
      body,
      state: isClosed ? 'closed' : 'open',
      labels: labels.map((name) => ({ id: 1, name, color: 'ff0000' })),
      comments: comments.length,
      user: author === null ? null : { login: author, id: 1, type: 'User' },
      ...(kind === 'gitea' ? { pull_request: null } : {}),
      ...(issue.isPullRequest === true && { pull_request: { url } }),
    };
  }

  function commentOf(comment: FakeComment): object {
    const { body, author = 'helper' } = comment;
    if (kind === 'gitlab')
      return {
        id: 1,
        body,
        author: author === null ? null : { id: 2, username: author },
        system: comment.isSystem === true,
        internal: comment.isInternal === true,
      };
    return {
      id: 1,
      body,
      user: author === null ? null : { login: author, id: 2, type: comment.isBot === true ? 'Bot' : 'User' },
      ...(kind === 'github' && { author_association: comment.isMaintainer === true ? 'MEMBER' : 'NONE' }),
    };
  }

  const more: Omit<IssueServer, keyof JsonServer> = { issues: byNumber, isPublic: true, areIssuesForMembers: false };
  const state: IssueServer = Object.assign(server, more);
  return state;
}
