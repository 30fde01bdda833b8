import { z } from 'zod';
import { filterSchema } from '../assistant/message-request.ts';

/** Maximum number of passages per search. */
const mostPassages = 50;

export const searchBodySchema = z.looseObject({
  query: z
    .string()
    .max(2_000)
    .refine((query) => query.trim() !== '', 'must not be blank'),
  pageSize: z.int().min(1).max(mostPassages).default(10),
  filter: filterSchema.nullish(),
});

export const passagesSchema = z
  .array(z.looseObject({ content: z.string(), path: z.string(), metadata: z.looseObject({}) }))
  .max(mostPassages);

export const pageBodySchema = z.looseObject({ path: z.string().min(1).max(1_000) });
