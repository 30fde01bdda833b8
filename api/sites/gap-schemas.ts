import { z } from 'zod';
import { closedBody, closedQuery } from '../http/closed-object.ts';
import { jobStatusSchema } from '../../workflows/contract/job.ts';
import { maxPageSize } from '../../db/page.ts';
import { maxRemarks } from '../../search/query/cluster-questions.ts';
import { maxUnansweredLength } from '../../db/sites/conversations.ts';
import { maxSources } from '../../db/sites/threads.ts';
import { nextCursor, pageQuerySchema, wholeNumber } from '../http/page-schemas.ts';
import { givenTime, time, timeOrNull } from '../../lib/time-schemas.ts';

/** Maximum number of searches listed by `GET …/searches`. */
export const maxSearches = 200;

/** Maximum number of reasons per vote. */
export const maxReasons = 10;

/** Body of `POST …/feedback`, and of its response. */
export const feedbackSchema = z.object({
  threadId: z.string().max(64).meta({ description: 'The id of the conversation, from its stream.' }),
  messageId: z.string().min(1).max(200).meta({ description: "The id of the assistant's message, from its stream." }),
  vote: z.enum(['up', 'down']),
  reasons: z.array(z.string().trim().min(1).max(100)).max(maxReasons).default([]),
  comment: z.string().trim().max(2_000).nullable().default(null),
});

const booleanText = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .pipe(z.boolean());

const locationName = z.string().max(200).optional();
const moment = givenTime.optional();

/** Query of `GET …/conversations`. */
export const conversationQuerySchema = pageQuerySchema.extend({
  answered: booleanText
    .optional()
    .meta({ description: 'true: only conversations in which every question was answered; false: only the others.' }),
  vote: z
    .enum(['up', 'down'])
    .optional()
    .meta({ description: 'Only conversations in which an answer has this rating.' }),
  q: z
    .string()
    .trim()
    .max(maxUnansweredLength)
    .optional()
    .meta({ description: 'Searches the text of the conversations, and the queries that were searched for.' }),
  since: moment.meta({ description: 'Only conversations that began at or after this time.' }),
  until: moment.meta({ description: 'Only conversations that began before this time.' }),
  topic: locationName.meta({ description: 'Only conversations with an answer in this section; empty for none.' }),
  version: locationName.meta({ description: 'Only conversations with an answer about this version; empty for none.' }),
  language: locationName.meta({ description: 'Only conversations with an answer in this language; empty for none.' }),
  page: z
    .string()
    .max(1_000)
    .optional()
    .meta({ description: 'Only conversations with an answer that cites this page.' }),
});

export const conversationPageSchema = z.object({
  conversations: z
    .array(
      z.object({
        threadId: z.string(),
        fp: z.string(),
        createdAt: time,
        updatedAt: time,
        question: z.string().nullable().meta({ description: 'The beginning of the first question.' }),
        questions: z.number().int(),
        unanswered: z.number().int(),
        up: z.number().int(),
        down: z.number().int(),
        sources: z.array(z.object({ url: z.string(), title: z.string() })).max(maxSources),
      }),
    )
    .max(maxPageSize),
  nextCursor,
});

/** Query of `GET …/searches`. */
export const searchesQuerySchema = closedQuery({
  days: wholeNumber(1, 365).default(30),
});

export const emptySearchesSchema = z.object({
  searches: z.array(z.object({ query: z.string(), count: z.number().int(), lastAt: time })).max(maxSearches),
});

/** Body of `POST …/gaps/{id}/job`. */
export const gapJobSchema = closedBody({
  projectId: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'must be the id of a project')
    .optional()
    .meta({ description: "Defaults to the project of the site's repository, or to the only project." }),
  instructions: z
    .string()
    .max(20_000)
    .optional()
    .meta({ description: 'Instructions for the agent in addition to the questions.' }),
}).prefault({});

export const gapSchema = z.object({
  id: z.string(),
  label: z.string().meta({ description: 'The most frequent question.' }),
  state: z.enum(['open', 'working', 'indexing', 'asking', 'answered', 'unanswered', 'dismissed']).meta({
    description:
      'working: a job was created; indexing: its pull request is merged and the site is being indexed; asking: the questions are being asked again; answered or unanswered: the result; dismissed: by a person.',
  }),
  questions: z
    .array(
      z.object({
        text: z.string(),
        count: z.number().int(),
        lastAskedAt: time,
        answeredNow: z.boolean().nullable().meta({ description: 'Null when the question was not asked again.' }),
        notFound: z.number().int().nullable().meta({
          description:
            'Number of times that the assistant found no answer in the documentation. Null if no longer known.',
        }),
        votedDown: z
          .number()
          .int()
          .nullable()
          .meta({ description: 'Number of times that readers voted the answer down.' }),
        remarks: z
          .array(z.string())
          .max(maxRemarks)
          .meta({ description: "The latest readers' reasons and comments, as long as their conversations are kept." }),
      }),
    )
    .max(50),
  count: z
    .number()
    .int()
    .meta({ description: 'Number of times its questions were asked, including questions that are not listed.' }),
  lastAskedAt: timeOrNull,
  job: z
    .object({
      id: z.string(),
      projectId: z.string(),
      status: jobStatusSchema,
      prLink: z.string().nullable(),
      prState: z.enum(['open', 'closed', 'merged']).nullable(),
    })
    .nullable(),
  mayBegin: z.boolean().meta({
    description:
      'Whether a job can be created: the gap is not dismissed, no job is active, and no pull request waits to be merged.',
  }),
  checkedAt: timeOrNull,
});
export type PublicGap = z.infer<typeof gapSchema>;

export const gapListSchema = z.object({ gaps: z.array(gapSchema).max(1_000) });
