import { z } from 'zod';
import { mostOfPage } from '../../db/page.ts';
import { closedQuery } from './closed-object.ts';

/** How many a page may have. */
export const limit = z
  .string()
  .regex(/^(?:[1-9]|[1-9][0-9]|100)$/, `must be a whole number from 1 to ${mostOfPage}`)
  .transform(Number);

const cursor = z.string().min(1).max(500).optional();

/** The query of a list in pages. */
export const pageQuerySchema = closedQuery({ limit: limit.default(20), cursor });

/** The same for a list that seldom has more than one page. */
export const listQuerySchema = closedQuery({ limit: limit.default(mostOfPage), cursor });

export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'cursor of the next page; null when there is none.' });
