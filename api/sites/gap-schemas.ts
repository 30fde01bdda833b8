import { z } from 'zod';
import { closedBody, closedQuery } from '../http/closed-object.ts';
import { jobStatusSchema } from '../../workflows/contract/job.ts';
import { mostOfPage } from '../../db/page.ts';
import { mostSources } from '../../db/sites/threads.ts';
import { nextCursor, pageQuerySchema } from '../http/page-schemas.ts';

/** What an answer of `GET …/searches` lists. */
export const mostSearches = 200;

/** Reasons of a reader for a vote. */
export const mostReasons = 10;

const time = z.string().meta({ format: 'date-time' });
const timeOrNull = z.string().nullable().meta({ format: 'date-time' });

/** The body of `POST …/feedback`, and its answer. */
export const feedbackSchema = z.object({
  threadId: z.string().max(64).meta({ description: 'Of the conversation, as its stream gave it.' }),
  messageId: z.string().min(1).max(200).meta({ description: "Of the assistant's message, as its stream gave it." }),
  vote: z.enum(['up', 'down']),
  reasons: z.array(z.string().trim().min(1).max(100)).max(mostReasons).default([]),
  comment: z.string().trim().max(2_000).nullable().default(null),
});

const booleanText = z.enum(['true', 'false']).transform((text) => text === 'true');

/** The query of `GET …/conversations`. */
export const conversationQuerySchema = pageQuerySchema.extend({
  answered: booleanText.optional(),
  vote: z.enum(['up', 'down']).optional(),
  q: z.string().trim().max(200).optional(),
});

export const conversationPageSchema = z.object({
  conversations: z
    .array(
      z.object({
        threadId: z.string(),
        fp: z.string(),
        createdAt: time,
        updatedAt: time,
        question: z.string().nullable().meta({ description: 'The beginning of the first one.' }),
        questions: z.number().int(),
        unanswered: z.number().int(),
        up: z.number().int(),
        down: z.number().int(),
        sources: z.array(z.object({ url: z.string(), title: z.string() })).max(mostSources),
      }),
    )
    .max(mostOfPage),
  nextCursor,
});

/** The query of `GET …/searches`. */
export const searchesQuerySchema = closedQuery({
  days: z
    .string()
    .regex(/^(?:[1-9]\d?|[12]\d\d|3[0-5]\d|36[0-5])$/, 'must be a whole number from 1 to 365')
    .transform(Number)
    .default(30),
});

export const emptySearchesSchema = z.object({
  searches: z.array(z.object({ query: z.string(), count: z.number().int(), lastAt: time })).max(mostSearches),
});

/** The body of `POST …/gaps/{id}/job`. */
export const gapJobSchema = closedBody({
  projectId: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'must be the id of a project')
    .optional()
    .meta({ description: "Without it the project on the site's repository, or the only one." }),
  instructions: z.string().max(20_000).optional().meta({ description: 'What the agent is told beside the questions.' }),
});

export const gapSchema = z.object({
  id: z.string(),
  label: z.string().meta({ description: 'The question that was asked most.' }),
  state: z.enum(['open', 'working', 'indexing', 'asking', 'answered', 'unanswered']).meta({
    description:
      'working: a job was made; indexing: its pull request is merged and the site is indexed; asking: the questions are asked again; then whether all of them are answered now.',
  }),
  questions: z
    .array(
      z.object({
        text: z.string(),
        count: z.number().int(),
        lastAskedAt: time,
        answeredNow: z.boolean().nullable().meta({ description: 'Null: it was not asked again.' }),
      }),
    )
    .max(50),
  count: z.number().int().meta({ description: 'How often they were asked.' }),
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
  mayBegin: z
    .boolean()
    .meta({ description: 'Whether a job, or a further one, can be made: none works on it or waits to be merged.' }),
  checkedAt: timeOrNull,
});
export type PublicGap = z.infer<typeof gapSchema>;

export const gapListSchema = z.object({ gaps: z.array(gapSchema).max(1_000) });
