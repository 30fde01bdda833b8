import { z } from 'zod';
import { type ThreadStore, maxSources, type Thread } from '../../db/sites/threads.ts';
import type { Admission } from '../access/request-access.ts';
import type { AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { threadNotFound } from '../http/errors.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { domain } from './site-schemas.ts';
import type { ReadSite } from './site-reader.ts';
import { closedQuery } from '../http/closed-object.ts';
import { nextCursor, wholeNumber } from '../http/page-schemas.ts';
import { maxReasons } from './gap-schemas.ts';
import { time } from '../../lib/time-schemas.ts';

/** Query of `GET …/thread/{threadId}`. */
const threadQuerySchema = closedQuery({
  limit: wholeNumber(1, 200).default(200),
  cursor: z
    .string()
    .regex(/^\d{1,18}$/, 'is not a cursor of an earlier page')
    .optional()
    .meta({ description: 'nextCursor of the previous page.' }),
});

/** A conversation with the assistant, as shown to an admin key. */
const threadSchema = z.object({
  threadId: z.string(),
  createdAt: time,
  messages: z
    .array(
      z.object({
        id: z.string(),
        role: z.string().meta({ description: 'user or assistant.' }),
        content: z.string(),
        currentPath: z
          .string()
          .nullable()
          .meta({ description: 'The page that the reader was looking at; null if unknown, and for an answer.' }),
        searchQuery: z.string().nullable().meta({
          description:
            'The rewritten query that was searched for; null if the question was searched for unchanged, and for an answer.',
        }),
        sources: z.array(z.object({ url: z.string(), title: z.string() })).max(maxSources),
        answered: z
          .boolean()
          .nullable()
          .meta({ description: 'Whether the documentation had an answer; null for a question.' }),
        feedback: z
          .object({
            vote: z.enum(['up', 'down']),
            reasons: z.array(z.string()).max(maxReasons),
            comment: z.string().nullable(),
          })
          .nullable(),
        createdAt: time,
      }),
    )
    .max(200),
  nextCursor,
});
type PublicThread = z.infer<typeof threadSchema>;

const path = '/discovery/v1/assistant/{domain}/thread/{threadId}';
const params = { domain, threadId: z.string().meta({ description: 'The id of the conversation.' }) };

export const threadRoutes = {
  getThread: defineRoute({
    method: 'get',
    path,
    summary: 'Returns a conversation with its sources.',
    description:
      'A page has at most about 1 MB of text. After 200 messages, or 1 MB, a conversation continues as a new one.',
    params,
    query: threadQuerySchema,
    responses: { 200: json('A page of the conversation.', threadSchema) },
  }),
  deleteThread: defineRoute({
    method: 'delete',
    path,
    summary: 'Deletes a conversation permanently.',
    params,
    responses: { 204: { description: 'The conversation is deleted.' } },
  }),
};

export interface ThreadRouteDeps {
  admit: Admission;
  readSite: ReadSite;
  threads: Pick<ThreadStore, 'get' | 'remove'>;
}

export function createThreadsRouter({ admit, readSite, threads }: ThreadRouteDeps): AppRouter {
  return mountRoutes(admit, threadRoutes, {
    async getThread({ caller, params, query: { cursor = '0', limit } }) {
      const site = await readSite(caller, params.domain);
      const thread = await threads.get(site, params.threadId, { after: cursor, limit });
      if (thread === null) throw threadNotFound();
      return presentThread(thread);
    },

    async deleteThread({ caller, params }) {
      const site = await readSite(caller, params.domain);
      if (!(await threads.remove(caller, site.id, params.threadId))) throw threadNotFound();
    },
  });
}

/** Returns the form of a conversation shown to an admin key. */
function presentThread({ id, createdAt, messages, nextAfter }: Thread): PublicThread {
  return {
    threadId: id,
    createdAt: createdAt.toISOString(),
    messages: messages.map((message) => ({
      id: message.id,
      role: message.role,
      content: message.content,
      currentPath: message.currentPath,
      searchQuery: message.searchQuery,
      sources: message.sources.slice(0, maxSources).map(({ url, title }) => ({ url, title })),
      answered: message.answered,
      feedback: message.feedback,
      createdAt: message.createdAt.toISOString(),
    })),
    nextCursor: nextAfter,
  };
}
