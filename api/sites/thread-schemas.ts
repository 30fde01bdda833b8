import { z } from 'zod';
import { mostSources } from '../../db/sites/threads.ts';
import { closedQuery } from '../http/closed-object.ts';
import { nextCursor, wholeNumber } from '../http/page-schemas.ts';
import { mostReasons } from './gap-schemas.ts';

const time = z.string().meta({ format: 'date-time' });

/** Query of `GET …/thread/{threadId}`. */
export const threadQuerySchema = closedQuery({
  limit: wholeNumber(1, 200).default(200),
  cursor: z
    .string()
    .regex(/^\d{1,18}$/, 'is not one that a page gave')
    .optional()
    .meta({ description: 'nextCursor of the previous page.' }),
});

/** A conversation with the assistant, as shown to an admin key. */
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
        answered: z
          .boolean()
          .nullable()
          .meta({ description: 'Whether the documentation had an answer; null for a question.' }),
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
  nextCursor,
});
export type PublicThread = z.infer<typeof threadSchema>;
