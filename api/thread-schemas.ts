import { z } from 'zod';

const time = z.string().meta({ format: 'date-time' });

/** A conversation of the assistant, as an admin key sees it. */
export const threadSchema = z.object({
  threadId: z.string(),
  createdAt: time,
  messages: z.array(
    z.object({
      id: z.string(),
      role: z.string().meta({ description: 'user or assistant.' }),
      content: z.string(),
      sources: z.array(z.object({ url: z.string(), title: z.string() })),
      answered: z.boolean().nullable().meta({ description: 'Whether the pages had an answer; null of a question.' }),
      feedback: z
        .object({ vote: z.enum(['up', 'down']), reasons: z.array(z.string()), comment: z.string().nullable() })
        .nullable(),
      createdAt: time,
    }),
  ),
});
export type PublicThread = z.infer<typeof threadSchema>;
