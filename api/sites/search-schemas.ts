import { z } from 'zod';
import { maxStarterQuestions } from '../../lib/inputs/administration.ts';
import { filterSchema } from '../assistant/message-request.ts';

/** Maximum number of passages per search. */
const maxPassages = 50;

export const searchBodySchema = z.looseObject({
  query: z
    .string()
    .max(2_000)
    .refine((query) => query.trim() !== '', 'must not be blank'),
  pageSize: z.int().min(1).max(maxPassages).default(10).meta({ description: 'How many passages to return.' }),
  filter: filterSchema,
});

export const passagesSchema = z
  .array(z.looseObject({ content: z.string(), path: z.string(), metadata: z.looseObject({}) }))
  .max(maxPassages);

const maxSuggestions = 10;

export const suggestBodySchema = z.looseObject({
  query: z.string().max(200).meta({ description: 'What the reader has typed; empty for the starter questions.' }),
  limit: z.int().min(1).max(maxSuggestions).default(6),
  filter: filterSchema,
});

export const suggestionsSchema = z.object({
  questions: z.array(z.string()).max(maxStarterQuestions).meta({ description: 'Starter questions of the site.' }),
  pages: z
    .array(
      z.object({
        path: z.string(),
        url: z.string(),
        title: z.string(),
        heading: z.string().nullable().meta({ description: 'Heading of the section; null for the page itself.' }),
      }),
    )
    .max(maxSuggestions),
});

export const pageBodySchema = z.looseObject({ path: z.string().min(1).max(1_000) });
