import { z } from 'zod';
import { maxSources } from '../../../db/sites/threads.ts';
import { maxQuoteLength } from './cited-passages.ts';
import { maxCitations, maxFacts } from './citations.ts';

const passageSchema = z.object({
  path: z.string().meta({ description: 'Path of its page.' }),
  url: z.string().meta({ description: 'URL of its section.' }),
  title: z.string().meta({ description: 'The heading above it, else the title of its page.' }),
  quote: z.string().max(maxQuoteLength).nullable().meta({ description: 'Its nearest sentence, as Markdown.' }),
});

/** The citations of an answer, as responses have them. */
export const citationsSchema = z
  .array(
    z.object({
      text: z.string().meta({ description: 'A sentence of the answer.' }),
      sources: z.array(z.string()).max(maxSources).meta({ description: 'Ids of the sources that it cites.' }),
      passages: z
        .array(passageSchema)
        .max(maxFacts + 1)
        .meta({
          description: 'The passage that supports it best, then passages with what that one lacks.',
        }),
      unsupported: z
        .array(z.string())
        .max(maxFacts)
        .meta({ description: 'Numbers, names, code, options and identifiers that these passages do not contain.' }),
    }),
  )
  .max(maxCitations);
