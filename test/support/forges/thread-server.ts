import { reply, startJsonServer, timeOf, token, type JsonServer } from './json-server.ts';

export interface FakeDiscussion {
  title: string;
  body?: string;
  author?: string | null;
  /** Minutes after a fixed time. */
  changedAt: number;
  labels?: string[];
  comments?: FakeDiscussionComment[];
}

export interface FakeDiscussionComment {
  body: string;
  author?: string | null;
  isAnswer?: boolean;
  isMinimized?: boolean;
  isBot?: boolean;
  isMaintainer?: boolean;
  replies?: FakeDiscussionComment[];
}

export interface DiscussionServer extends JsonServer {
  /** By number. */
  discussions: Map<number, FakeDiscussion>;
  repository: { private: boolean; has_discussions: boolean };
}

/** Serves the discussions of the repository `acme/docs` as GitHub's APIs document it: REST below the origin, and GraphQL. */
export async function startDiscussionServer(
  discussions: Record<number, FakeDiscussion>,
  { pageSize = Infinity }: { pageSize?: number } = {},
): Promise<DiscussionServer> {
  const byNumber = new Map(Object.entries(discussions).map(([number, one]) => [Number(number), one]));
  const repository = { private: false, has_discussions: true };
  const server = await startJsonServer(({ url: { pathname }, body, authorization }, response) => {
    if (authorization !== null && authorization !== `Bearer ${token}`)
      return reply(response, 401, { message: 'Bad credentials' });
    if (pathname === '/repos/acme/docs')
      return repository.private && authorization === null
        ? reply(response, 404, { message: 'Not Found' })
        : reply(response, 200, { full_name: 'acme/docs', ...repository });
    if (pathname !== '/graphql') return reply(response, 404, { message: 'Not Found' });
    if (authorization === null)
      return reply(response, 401, { message: 'This endpoint requires you to be authenticated.' });
    const { query, variables } = JSON.parse(body);
    if (variables.owner !== 'acme' || variables.name !== 'docs')
      return reply(response, 200, { data: { repository: null }, errors: [{ type: 'NOT_FOUND', message: 'no such' }] });
    return reply(response, 200, /discussions\(/.test(query) ? list(variables) : discussion(variables));
  });

  function list({ size, after, answered }: { size: number; after: string | null; answered: boolean | null }) {
    const wanted = [...byNumber]
      .filter(([, one]) => answered === null || answerOf(one) !== undefined)
      .sort(([, a], [, b]) => b.changedAt - a.changedAt);
    const from = after === null ? 0 : Number(after);
    const to = from + Math.min(size, pageSize);
    const nodes = wanted.slice(from, to).map(([number, one]) => ({
      number,
      url: `${server.origin}/acme/docs/discussions/${number}`,
      title: one.title,
      updatedAt: timeOf(one.changedAt),
      answerChosenAt: answerOf(one) === undefined ? null : timeOf(0),
      labels: { nodes: (one.labels ?? []).map((name) => ({ name })) },
      comments: { totalCount: one.comments?.length ?? 0 },
    }));
    const pageInfo = { hasNextPage: to < wanted.length, endCursor: nodes.length === 0 ? null : String(to) };
    return { data: { repository: { discussions: { pageInfo, nodes } } } };
  }

  function discussion({ number, max, replies }: { number: number; max: number; replies: number }) {
    const one = byNumber.get(number);
    if (one === undefined)
      return { data: { repository: { discussion: null } }, errors: [{ type: 'NOT_FOUND', message: 'no such' }] };
    const answer = answerOf(one);
    const nodes = (one.comments ?? []).slice(0, max).map((comment) => ({
      ...commentOf(comment),
      replies: { nodes: (comment.replies ?? []).slice(0, replies).map(commentOf) },
    }));
    const { body = '', author = 'asker' } = one;
    return {
      data: {
        repository: {
          discussion: {
            body,
            author: author === null ? null : { login: author },
            answer: answer === undefined ? null : commentOf(answer),
            comments: { nodes },
          },
        },
      },
    };
  }

  return Object.assign(server, { discussions: byNumber, repository });
}

function answerOf({ comments = [] }: FakeDiscussion): FakeDiscussionComment | undefined {
  return comments.find(({ isAnswer }) => isAnswer === true);
}

function commentOf({ body, author = 'helper', ...comment }: FakeDiscussionComment): object {
  return {
    id: `DC_${Buffer.from(body.slice(0, 200)).toString('base64url')}`,
    body,
    isMinimized: comment.isMinimized === true,
    authorAssociation: comment.isMaintainer === true ? 'MEMBER' : 'NONE',
    author: author === null ? null : { __typename: comment.isBot === true ? 'Bot' : 'User', login: author },
  };
}

export interface FakeTopic {
  title: string;
  /** Minutes after a fixed time. */
  bumpedAt: number;
  tags?: (string | { id: number; name: string; slug: string })[];
  isVisible?: boolean;
  isPinned?: boolean;
  archetype?: string;
  /** Its id in the address of the category. */
  category?: number;
  /** In order; the first one is the question. */
  posts: FakePost[];
}

export interface FakePost {
  cooked: string;
  username?: string;
  isAccepted?: boolean;
  isStaff?: boolean;
  isHidden?: boolean;
  isDeletedByUser?: boolean;
  /** 1 by default: 3 is a note of the forum, and 4 a whisper among staff. */
  type?: number;
}

export interface ForumServer extends JsonServer {
  /** By id. */
  topics: Map<number, FakeTopic>;
  isLoginRequired: boolean;
  /** Whether topics can be solved; newer forums list the posts that were accepted. */
  solved: 'none' | 'one' | 'many';
}

const postsPerChunk = 20;

/** Serves a forum below `/forum` as Discourse does, with its plugin Solved. */
export async function startForumServer(
  topics: Record<number, FakeTopic>,
  { pageSize = 30 }: { pageSize?: number } = {},
): Promise<ForumServer> {
  const byId = new Map(Object.entries(topics).map(([id, topic]) => [Number(id), topic]));
  const server = await startJsonServer(({ url: { pathname, searchParams } }, response) => {
    const refuse = (status: number, type: string) =>
      reply(response, status, { errors: ['You are not permitted to view the resource.'], error_type: type });
    if (state.isLoginRequired) return refuse(403, 'not_logged_in');
    const path = /^\/forum(\/.*)\.json$/.exec(pathname)?.[1];
    if (path === undefined) return refuse(404, 'not_found');
    const [, category, isLatest] = /^(?:\/c\/\w+\/(\d+)\/l)?\/(latest)$/.exec(path) ?? [];
    if (isLatest !== undefined) return reply(response, 200, list(searchParams, category));
    const [, id = '', number] = /^\/(?:t\/(?=\d+$)|posts\/by_number\/(?=\d+\/\d+$))(\d+)(?:\/(\d+))?$/.exec(path) ?? [];
    const topic = byId.get(Number(id));
    if (topic === undefined) return refuse(404, 'not_found');
    const post = number === undefined ? undefined : topic.posts[Number(number) - 1];
    if (number !== undefined)
      return post === undefined ? refuse(404, 'not_found') : reply(response, 200, postOf(post, Number(number) - 1));
    return reply(response, 200, topicOf(Number(id), topic));
  });

  function list(query: URLSearchParams, category: string | undefined) {
    const wanted = [...byId]
      .filter(([, topic]) => category === undefined || topic.category === Number(category))
      .filter(([, topic]) => state.solved === 'none' || query.get('solved') !== 'yes' || acceptedOf(topic) !== -1)
      .sort(([, a], [, b]) => Number(b.isPinned ?? 0) - Number(a.isPinned ?? 0) || b.bumpedAt - a.bumpedAt);
    const page = Number(query.get('page') ?? 0);
    const shown = wanted.slice(page * pageSize, (page + 1) * pageSize);
    return {
      users: [],
      primary_groups: [],
      topic_list: {
        can_create_topic: false,
        per_page: pageSize,
        ...((page + 1) * pageSize < wanted.length && {
          more_topics_url: `/latest?no_definitions=true&page=${page + 1}`,
        }),
        topics: shown.map(([id, topic]) => ({
          ...headOf(id, topic),
          bumped: true,
          bumped_at: timeOf(topic.bumpedAt),
          last_posted_at: timeOf(topic.bumpedAt),
          pinned: topic.isPinned === true,
          unpinned: null,
          tags: topic.tags ?? [],
          category_id: topic.category ?? 1,
          ...(state.solved !== 'none' && { has_accepted_answer: acceptedOf(topic) !== -1 }),
        })),
      },
    };
  }

  function headOf(id: number, topic: FakeTopic) {
    return {
      id,
      title: topic.title,
      fancy_title: topic.title,
      slug: topic.title.toLowerCase().replaceAll(/\W+/g, '-'),
      posts_count: topic.posts.length,
      visible: topic.isVisible !== false,
      archetype: topic.archetype ?? 'regular',
    };
  }

  function topicOf(id: number, topic: FakeTopic) {
    const at = acceptedOf(topic);
    const accepted = topic.posts[at];
    return {
      ...headOf(id, topic),
      post_stream: { posts: topic.posts.slice(0, postsPerChunk).map(postOf), stream: topic.posts.map((_, one) => one) },
      ...(accepted !== undefined && state.solved === 'one' && { accepted_answer: { post_number: at + 1 } }),
      ...(accepted !== undefined && state.solved === 'many' && { accepted_answers: [postOf(accepted, at)] }),
    };
  }

  function postOf(post: FakePost, at: number) {
    return {
      id: 1_000 + at,
      post_number: at + 1,
      post_type: post.type ?? 1,
      username: post.username ?? (at === 0 ? 'asker' : 'helper'),
      cooked: post.cooked,
      hidden: post.isHidden === true,
      user_deleted: post.isDeletedByUser === true,
      deleted_at: null,
      staff: post.isStaff === true,
      ...(state.solved === 'one' && { accepted_answer: post.isAccepted === true }),
    };
  }

  const more: Omit<ForumServer, keyof JsonServer> = { topics: byId, isLoginRequired: false, solved: 'one' };
  const state: ForumServer = Object.assign(server, more);
  return state;
}

function acceptedOf({ posts }: FakeTopic): number {
  return posts.findIndex(({ isAccepted }) => isAccepted === true);
}
