import { z } from 'zod';
import type { Egress } from '../../../lib/network/egress.ts';
import { readRetryAfter } from '../../../lib/network/retry-after.ts';
import { askForge, type ForgeResponse } from '../../forges/forge-http.ts';
import { ForgeError } from '../../forges/forge.ts';
import { time } from './issue-forges.ts';
import {
  createRetryingAsk,
  notItsApi,
  type ListedThread,
  type ThreadClient,
  type ThreadContent,
  type ThreadReply,
} from './thread-client.ts';
import { trimEndSlashes } from '../../../lib/trim-end-slashes.ts';

export interface ForumClientOptions {
  /** The forum, or one of its categories. */
  url: string;
  egress: Pick<Egress, 'fetch'>;
  /** Time between requests. */
  delayMs: number;
  signal: AbortSignal;
}

/** Without a header; a forum counts requests by the minute. */
const usualWaitMs = 60_000;
const gone = new Set([403, 404, 410]);
/** Posts by people; the others are notes of the forum and of its staff. */
const regular = 1;

const topic = z.object({
  id: z.number().int(),
  title: z.string(),
  slug: z.string().nullish(),
  posts_count: z.number(),
  bumped_at: time,
  archetype: z.string().optional(),
  visible: z.boolean().optional(),
  pinned: z.boolean().nullish(),
  // names; newer forums have objects
  tags: z.array(z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)])).nullish(),
  /** Only where topics can be solved. */
  has_accepted_answer: z.boolean().nullish(),
});
const listSchema = z.object({
  topic_list: z.object({ topics: z.array(topic), more_topics_url: z.string().nullish() }),
});
const post = z.object({
  id: z.number().int(),
  post_number: z.number().int(),
  post_type: z.number().int(),
  cooked: z.string(),
  username: z.string().nullish(),
  hidden: z.boolean().nullish(),
  user_deleted: z.boolean().nullish(),
  deleted_at: z.string().nullish(),
  staff: z.boolean().nullish(),
  accepted_answer: z.boolean().nullish(),
});
const topicSchema = z.object({
  post_stream: z.object({ posts: z.array(post) }),
  accepted_answer: z.object({ post_number: z.number().int() }).nullish(),
  // of newer forums, where a topic may have several
  accepted_answers: z.array(post).nullish(),
});
const refusal = z.object({ error_type: z.string() });

/** Creates a client for the topics of a forum that runs Discourse. It reads without credentials. */
export function createForumClient({ url, egress, delayMs, signal }: ForumClientOptions): ThreadClient {
  const { base, category, host } = forumOf(url);
  const ask = createRetryingAsk<string>({
    send,
    failureOf: (response) => (response.status < 400 || isRefusal(response) ? null : failureOf(response)),
    delayMs,
    signal,
  });

  async function send(path: string): Promise<ForgeResponse> {
    const headers = { accept: 'application/json' };
    try {
      return await askForge({ forge: host, method: 'GET', url: `${base}${path}`, headers, egress, signal });
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind !== 'not-found') throw error;
      throw new ForgeError('not-found', `${host} leads to a private address, which is not allowed.`);
    }
  }

  function failureOf({ status, headers }: ForgeResponse): ForgeError {
    if (status === 429 || status >= 500) {
      const retryAfterMs = readRetryAfter(headers['retry-after']) ?? (status === 429 ? usualWaitMs : undefined);
      const kind = status === 429 ? 'rate-limited' : 'unavailable';
      return new ForgeError(kind, `${host} answered ${status}.`, { retryAfterMs });
    }
    if (status >= 300 && status < 400) {
      const remedy = 'Set the URL of the source to that address.';
      return new ForgeError('not-found', `${host} redirects to another address. ${remedy}`);
    }
    return new ForgeError(gone.has(status) ? 'unavailable' : 'rejected', `${host} answered ${status}.`);
  }

  function parsed<Value>(schema: z.ZodType<Value>, response: ForgeResponse): Value {
    if (response.status !== 200) throw failureOf(response);
    const result = schema.safeParse(response.data);
    if (result.success) return result.data;
    throw notItsApi(host);
  }

  function listPath(page: number, isSettled: boolean): string {
    const query = new URLSearchParams({ page: String(page), ...(isSettled && { solved: 'yes' }) });
    return `${category === '' ? '' : `${category}/l`}/latest.json?${query}`;
  }

  function threadOf({ id, slug, title, ...found }: z.infer<typeof topic>): ListedThread {
    const isSettled = found.has_accepted_answer === true;
    return {
      id: String(id),
      url: `${base}/t/${slug ? `${encodeURIComponent(slug)}/` : ''}${id}`,
      title,
      changedAt: found.bumped_at,
      // neither an accepted answer nor a deleted reply moves a topic up
      version: `${found.bumped_at} ${found.posts_count} ${isSettled}`,
      isSettled,
      isForAll: found.visible !== false && found.archetype !== 'private_message',
      labels: found.tags ?? [],
      read: (max) => read(id, max),
    };
  }

  async function read(id: number, max: number): Promise<ThreadContent | null> {
    const response = await ask(`/t/${id}.json`);
    if (isRefusal(response)) return null;
    const found = parsed(topicSchema, response);
    const { posts } = found.post_stream;
    const accepted = await acceptedPosts(id, found);
    const isAccepted = ({ id }: { id: number }) => accepted.some((one) => one.id === id);
    const question = posts.find((post) => post.post_number === 1);
    const others = posts.filter((post) => post.post_number !== 1 && !isAccepted(post));
    return {
      text: question !== undefined && isShown(question) ? question.cooked : '',
      isHtml: true,
      author: question?.username ?? null,
      replies: [...accepted, ...others]
        .filter(isShown)
        .slice(0, max)
        .map((post) => replyOf(post, isAccepted(post))),
    };
  }

  /** Of a long topic, the accepted post may not be among the first ones. */
  async function acceptedPosts(id: number, found: z.infer<typeof topicSchema>): Promise<z.infer<typeof post>[]> {
    const { accepted_answers: listed, accepted_answer: named, post_stream: stream } = found;
    if (listed != null && listed.length > 0) return listed;
    const known = stream.posts.filter((post) => post.accepted_answer === true);
    if (known.length > 0 || named == null) return known;
    const response = await ask(`/posts/by_number/${id}/${named.post_number}.json`);
    return isRefusal(response) ? [] : [parsed(post, response)];
  }

  return {
    async problemWithAccess() {
      const response = await ask(listPath(0, false));
      if (isRefusal(response)) return `The topics on ${host} are not public, and Docket reads only public topics.`;
      parsed(listSchema, response);
      return null;
    },
    async *list({ since, isSettled }) {
      for (let page = 0; ; page += 1) {
        const { topics, more_topics_url: more } = parsed(listSchema, await ask(listPath(page, isSettled))).topic_list;
        if (isSettled && topics.length > 0 && topics.every((entry) => entry.has_accepted_answer == null))
          throw new ForgeError('rejected', `${host} does not mark accepted answers. Set threads to all.`);
        const isChanged = (entry: z.infer<typeof topic>) => since === null || entry.bumped_at >= since;
        yield { entries: topics.map((entry) => (isChanged(entry) ? threadOf(entry) : null)), etag: null };
        // pinned topics come first, however old they are
        const isOver = topics.some((entry) => entry.pinned !== true && !isChanged(entry));
        if (more == null || isOver) return;
      }
    },
  };
}

/** Splits the address of a forum, which may be below a path, from that of a category. */
function forumOf(url: string): { base: string; category: string; host: string } {
  const { origin, host, pathname } = new URL(url);
  const path = trimEndSlashes(pathname);
  const at = path.search(/\/c\//);
  return { base: `${origin}${at === -1 ? path : path.slice(0, at)}`, category: at === -1 ? '' : path.slice(at), host };
}

/** Reports whether the forum itself refused, and not a proxy in front of it. */
function isRefusal({ status, data }: ForgeResponse): boolean {
  return gone.has(status) && refusal.safeParse(data).success;
}

function isShown({ post_type: type, hidden, user_deleted: isDeleted, deleted_at: deletedAt }: z.infer<typeof post>) {
  return type === regular && hidden !== true && isDeleted !== true && deletedAt == null;
}

function replyOf({ cooked, username, staff }: z.infer<typeof post>, isAccepted: boolean): ThreadReply {
  return { text: cooked, author: username ?? null, isMaintainer: staff === true, isAccepted };
}
