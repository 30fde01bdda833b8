import { z } from 'zod';
import { mostSources } from '../../db/sites/threads.ts';
import { closedQuery } from '../http/closed-object.ts';
import { mostReasons } from './gap-schemas.ts';

const time = z.string().meta({ format: 'date-time' });

/** The query of `GET …/thread/{threadId}`. */
export const threadQuerySchema = closedQuery({
  limit: z
    .string()
    .regex(/^(?:[1-9]\d?|1\d\d|200)$/, 'must be a whole number from 1 to 200')
    .transform(Number)
    .default(200),
  cursor: z
    .string()
    .regex(/^\d{1,18}$/, 'is not one that a page gave')
    .optional(),
});

/** A conversation of the assistant, as an admin key sees it. */
export const threadSchema = z.object({
  threadId: z.string(),
  createdAt: time,
  messages: z
    .array(
      z.object({
        id: z.string(),
        role: z.string().meta({ description: 'user or assistant.' }),
        content: z.string(),
        sources: z.array(z.object({ url: z.string(), title: z.string() })).max(mostSources),
        answered: z.boolean().nullable().meta({ description: 'Whether the pages had an answer; null of a question.' }),
        feedback: z
          .object({
            vote: z.enum(['up', 'down']),
            reasons: z.array(z.string()).max(mostReasons),
            comment: z.string().nullable(),
          })
          .nullable(),
        createdAt: time,
      }),
    )
    .max(200),
  nextCursor: z.string().nullable().meta({ description: 'cursor of the next page; null when there is none.' }),
});
export type PublicThread = z.infer<typeof threadSchema>;
