import { z } from 'zod';
import { failureOfAnswer } from '../../forges/forge-failure.ts';
import type { ForgeResponse } from '../../forges/forge-http.ts';
import { ForgeError } from '../../forges/forge.ts';
import { maintainers, text, time } from './issue-forges.ts';
import { linkSchema } from '../../forges/forge-http.ts';
import {
  createRetryingAsk,
  failureOfForge,
  notItsApi,
  notPublic,
  type ListedThread,
  type ThreadClient,
  type ThreadClientOptions,
  type ThreadContent,
  type ThreadReply,
} from './thread-client.ts';

const pageSize = 50;
const repliesPerComment = 5;
const refusals = new Set([401, 403, 404, 410]);

const listQuery = `query ($owner: String!, $name: String!, $size: Int!, $after: String, $answered: Boolean) {
  repository(owner: $owner, name: $name) {
    discussions(first: $size, after: $after, answered: $answered, orderBy: { field: UPDATED_AT, direction: DESC }) {
      pageInfo { hasNextPage endCursor }
      nodes { number url title updatedAt answerChosenAt labels(first: 20) { nodes { name } } comments { totalCount } }
    }
  }
}`;
const threadQuery = `query ($owner: String!, $name: String!, $number: Int!, $max: Int!, $replies: Int!) {
  repository(owner: $owner, name: $name) {
    discussion(number: $number) {
      body
      author { login }
      answer { ...reply }
      comments(first: $max) { nodes { ...reply replies(first: $replies) { nodes { ...reply } } } }
    }
  }
}
fragment reply on DiscussionComment { id body isMinimized authorAssociation author { __typename login } }`;

const author = z
  .object({ login: z.string() })
  .nullish()
  .transform((account) => account?.login ?? null);
const reply = z.object({
  id: z.string(),
  body: text,
  isMinimized: z.boolean(),
  authorAssociation: z.string(),
  author: z.object({ __typename: z.string(), login: z.string() }).nullish(),
});
const listSchema = z.object({
  discussions: z.object({
    pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
    nodes: z.array(
      z.object({
        number: z.number().int(),
        url: linkSchema,
        title: z.string(),
        updatedAt: time,
        answerChosenAt: z.string().nullable(),
        labels: z.object({ nodes: z.array(z.object({ name: z.string() })) }).nullish(),
        comments: z.object({ totalCount: z.number() }),
      }),
    ),
  }),
});
const threadSchema = z.object({
  discussion: z
    .object({
      body: text,
      author,
      answer: reply.nullable(),
      comments: z.object({
        nodes: z.array(reply.extend({ replies: z.object({ nodes: z.array(reply) }) })),
      }),
    })
    .nullable(),
});
const answerSchema = z.object({
  data: z.object({ repository: z.unknown() }).nullish(),
  errors: z.array(z.object({ type: z.string().optional() })).optional(),
});
const visibility = z.object({ private: z.boolean(), has_discussions: z.boolean().optional() });

/** Creates a client for the discussions of one repository on GitHub, which shows them only by GraphQL and with a token. */
export function createDiscussionClient({ api, delayMs, signal }: ThreadClientOptions): ThreadClient {
  const failureOf = (response: ForgeResponse) => failureOfForge(api, 'discussions', response);
  const retrying = { failureOf: problemOf, delayMs, signal };
  const ask = createRetryingAsk<{ query: string; variables: object }>({
    ...retrying,
    send: (question) => api.graphql(question, signal),
  });
  const askAnonymously = createRetryingAsk<string>({
    ...retrying,
    send: (path) => api.get(path, { isAnonymous: true, signal }),
  });

  /** GraphQL answers with 200 when it limits the rate. */
  function problemOf(response: ForgeResponse): ForgeError | null {
    if (response.status >= 400) return failureOf(response);
    const { errors = [] } = answerSchema.safeParse(response.data).data ?? {};
    if (errors.length === 0) return null;
    const types = new Set(errors.map(({ type }) => type));
    if (types.has('RATE_LIMITED')) return failureOfAnswer({ ...response, forge: api.forge, status: 429 });
    if (types.has('NOT_FOUND')) return failureOf({ ...response, status: 404 });
    if (types.has('FORBIDDEN') || types.has('INSUFFICIENT_SCOPES')) return failureOf({ ...response, status: 403 });
    // such as a query that took too long, which GitHub describes without a type
    return new ForgeError('unavailable', `${api.forge} could not answer the request.`);
  }

  async function parsed<Value>(
    schema: z.ZodType<Value>,
    question: { query: string; variables: object },
  ): Promise<Value | null> {
    const response = await ask(question);
    const { data } = answerSchema.safeParse(response.data);
    const problem = problemOf(response);
    // of a repository that is there, a discussion is missing
    if (problem !== null && problem.kind === 'not-found' && data?.data?.repository != null) return null;
    if (problem !== null) throw problem;
    const result = schema.safeParse(data?.data?.repository);
    if (response.status === 200 && result.success) return result.data;
    throw response.status === 200 ? notItsApi(api.forge) : failureOf(response);
  }

  async function read(number: number, max: number): Promise<ThreadContent | null> {
    const variables = { number, max, replies: repliesPerComment };
    const discussion = (await parsed(threadSchema, { query: threadQuery, variables }))?.discussion ?? null;
    if (discussion === null) return null;
    const { answer, comments } = discussion;
    const others = comments.nodes
      .flatMap((comment) => [comment, ...comment.replies.nodes])
      .filter(({ id }) => id !== answer?.id);
    const replies = [
      ...(answer === null ? [] : [replyOf(answer, true)]),
      ...others.map((comment) => replyOf(comment, false)),
    ].filter((one) => one !== null);
    return { text: discussion.body, isHtml: false, author: discussion.author, replies: replies.slice(0, max) };
  }

  return {
    async problemWithAccess() {
      const response = await askAnonymously('');
      if (refusals.has(response.status)) return notPublic(api, 'discussions');
      if (response.status !== 200) throw failureOf(response);
      const { data } = visibility.safeParse(response.data);
      if (data === undefined) throw notItsApi(api.forge);
      if (data.has_discussions === false) return `The repository has no discussions on ${api.forge}.`;
      return data.private ? notPublic(api, 'discussions') : null;
    },
    async *list({ since, isSettled }) {
      if (!api.hasCredential) {
        const remedy = 'Give a project of the repository a token, or grant the repository the token of the worker.';
        throw new ForgeError(
          'authentication',
          `${api.forge} shows discussions only to requests with a token. ${remedy}`,
        );
      }
      let after: string | null = null;
      for (;;) {
        const variables: object = { size: pageSize, after, answered: isSettled ? true : null };
        const page: z.infer<typeof listSchema> | null = await parsed(listSchema, { query: listQuery, variables });
        if (page === null) throw notItsApi(api.forge);
        const { nodes, pageInfo }: z.infer<typeof listSchema>['discussions'] = page.discussions;
        const isChanged = ({ updatedAt }: { updatedAt: string }) => since === null || updatedAt >= since;
        yield { entries: nodes.map((node) => (isChanged(node) ? threadOf(node) : null)), etag: null };
        if (!pageInfo.hasNextPage || pageInfo.endCursor === null || !nodes.every(isChanged)) return;
        after = pageInfo.endCursor;
      }
    },
  };

  function threadOf(node: z.infer<typeof listSchema>['discussions']['nodes'][number]): ListedThread {
    const { number, url, title, updatedAt, answerChosenAt } = node;
    return {
      id: String(number),
      url,
      title,
      changedAt: updatedAt,
      version: `${updatedAt} ${answerChosenAt ?? ''} ${node.comments.totalCount}`,
      isSettled: answerChosenAt !== null,
      isForAll: true,
      labels: node.labels?.nodes.map(({ name }) => name) ?? [],
      read: (max) => read(number, max),
    };
  }
}

/** Returns null for replies that are hidden, or by a bot. */
function replyOf(comment: z.infer<typeof reply>, isAccepted: boolean): ThreadReply | null {
  if (comment.isMinimized || comment.author?.__typename === 'Bot') return null;
  return {
    text: comment.body,
    author: comment.author?.login ?? null,
    isMaintainer: maintainers.has(comment.authorAssociation),
    isAccepted,
  };
}
