import { z } from 'zod';
import { mostSources } from '../../../db/sites/threads.ts';
import { longestQuote } from './cited-passage.ts';
import { mostCitations, mostFacts } from './citations.ts';

const passageSchema = z.object({
  path: z.string().meta({ description: 'Path of its page.' }),
  url: z.string().meta({ description: 'URL of its section.' }),
  title: z.string().meta({ description: 'The heading above it, else the title of its page.' }),
  quote: z.string().max(longestQuote).nullable().meta({ description: 'Its nearest sentence, as Markdown.' }),
});

/** The citations of an answer, as responses have them. */
export const citationsSchema = z
  .array(
    z.object({
      text: z.string().meta({ description: 'A sentence of the answer.' }),
      sources: z.array(z.string()).max(mostSources).meta({ description: 'Ids of the sources that it cites.' }),
      passage: passageSchema.nullable().meta({ description: 'The passage of these sources that supports it best.' }),
      unsupported: z
        .array(z.string())
        .max(mostFacts)
        .meta({ description: 'Numbers, names, code, options and identifiers that these sources do not contain.' }),
    }),
  )
  .max(mostCitations);
