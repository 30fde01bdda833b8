import { z } from 'zod';
import type { HostedKind } from '../../forges/forges.ts';
import { linkSchema } from '../../forges/forge-http.ts';
import type { ListedThread, ThreadReply } from './thread-client.ts';

/** An entry in a forge's list of issues. */
export interface ListedIssue extends Omit<ListedThread, 'version' | 'read'> {
  text: string;
  /** Null when the account is gone. */
  author: string | null;
  replies: number;
}

type IssueReply = Omit<ThreadReply, 'isAccepted'>;

interface ListQuery {
  page: number;
  size: number;
  /** Only what changed at this time or later. */
  since: string | null;
  isClosed: boolean;
}

/** How a forge is asked for its issues; paths are below the repository in its API. */
export interface IssueForge {
  listPath(query: ListQuery): string;
  /** Null for entries that are no issues. */
  list: z.ZodType<(ListedIssue | null)[]>;
  /** Replies up to a number, oldest first. */
  repliesPath(id: string, max: number): string;
  replies: z.ZodType<(IssueReply | null)[]>;
  /** Request that tells whether everyone may see the issues; null where listing them without a credential does. */
  access: { path: string; isPublic: z.ZodType<boolean> } | null;
}

export const time = z
  .string()
  .pipe(z.coerce.date())
  .transform((date) => date.toISOString());
export const text = z
  .string()
  .nullish()
  .transform((given) => given ?? '');
const named = z.object({ name: z.string() }).transform(({ name }) => name);
const account = z.object({ login: z.string(), type: z.string().optional() }).nullish();
/** How people with a say in the repository are related to it. */
export const maintainers = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);

const isBot = (user: z.infer<typeof account>) => user?.type === 'Bot' || user?.login.endsWith('[bot]') === true;

/** An issue of GitHub or Gitea, which share their names of fields. */
const issue = z
  .object({
    number: z.number().int(),
    html_url: linkSchema,
    title: z.string(),
    body: text,
    updated_at: time,
    state: z.string(),
    labels: z.array(z.union([z.string(), named])).nullish(),
    comments: z.number().int(),
    user: account,
    pull_request: z.unknown().optional(),
  })
  .transform((found): ListedIssue | null =>
    found.pull_request == null
      ? {
          id: String(found.number),
          url: found.html_url,
          title: found.title,
          text: found.body,
          changedAt: found.updated_at,
          isSettled: found.state === 'closed',
          isForAll: true,
          labels: found.labels ?? [],
          replies: found.comments,
          author: found.user?.login ?? null,
        }
      : null,
  );
const comment = z
  .object({ body: text, user: account, author_association: z.string().optional() })
  .transform(({ body, user, author_association: association = '' }): IssueReply | null =>
    isBot(user) ? null : { text: body, author: user?.login ?? null, isMaintainer: maintainers.has(association) },
  );
const gitlabAccount = z.object({ username: z.string() }).nullish();

export const issueForges: Record<HostedKind, IssueForge> = {
  github: {
    listPath: ({ page, size, since, isClosed }) =>
      `/issues?${queryOf({ state: isClosed ? 'closed' : 'all', sort: 'updated', direction: 'desc', since, per_page: size, page })}`,
    list: z.array(issue),
    repliesPath: (id, max) => `/issues/${id}/comments?per_page=${max}`,
    replies: z.array(comment),
    access: null,
  },
  gitea: {
    listPath: ({ page, size, since, isClosed }) =>
      `/issues?${queryOf({ type: 'issues', state: isClosed ? 'closed' : 'all', since, limit: size, page })}`,
    list: z.array(issue),
    repliesPath: (id) => `/issues/${id}/comments`,
    replies: z.array(comment),
    access: null,
  },
  gitlab: {
    listPath: ({ page, size, since, isClosed }) =>
      `/issues?${queryOf({ scope: 'all', state: isClosed ? 'closed' : null, order_by: 'updated_at', sort: 'desc', updated_after: since, per_page: size, page })}`,
    list: z.array(
      z
        .object({
          iid: z.number().int(),
          web_url: linkSchema,
          title: z.string(),
          description: text,
          updated_at: time,
          state: z.string(),
          labels: z.array(z.string()),
          user_notes_count: z.number().int(),
          author: gitlabAccount,
          confidential: z.boolean().optional(),
        })
        .transform((found): ListedIssue => ({
          id: String(found.iid),
          url: found.web_url,
          title: found.title,
          text: found.description,
          changedAt: found.updated_at,
          isSettled: found.state === 'closed',
          isForAll: found.confidential !== true,
          labels: found.labels,
          replies: found.user_notes_count,
          author: found.author?.username ?? null,
        })),
    ),
    repliesPath: (id, max) =>
      `/issues/${id}/notes?sort=asc&order_by=created_at&activity_filter=only_comments&per_page=${max}`,
    replies: z.array(
      z
        .object({
          body: text,
          author: gitlabAccount,
          system: z.boolean(),
          internal: z.boolean().optional(),
          confidential: z.boolean().nullish(),
        })
        .transform((note): IssueReply | null =>
          note.system || note.internal === true || note.confidential === true
            ? null
            : { text: note.body, author: note.author?.username ?? null, isMaintainer: false },
        ),
    ),
    // members see the issues of a public project whose issues are for members only
    access: {
      path: '',
      isPublic: z
        .object({ visibility: z.string(), issues_access_level: z.string() })
        .transform(
          ({ visibility, issues_access_level: level }) => visibility === 'public' && /^(?:enabled|public)$/.test(level),
        ),
    },
  },
};

function queryOf(values: Record<string, string | number | null>): string {
  const given = Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]));
  return new URLSearchParams(given).toString();
}
