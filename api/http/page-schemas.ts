import { z } from 'zod';
import { mostOfPage } from '../../db/page.ts';
import { closedQuery } from './closed-object.ts';

/** A whole number in a path or a query. */
export function wholeNumber(minimum: number, maximum: number) {
  const message = `must be a whole number from ${minimum} to ${maximum}`;
  return z
    .string()
    .regex(/^(?:0|[1-9]\d{0,14})$/, message)
    .transform(Number)
    .pipe(
      z
        .number()
        .refine((given) => given >= minimum && given <= maximum, message)
        .meta({ type: 'integer', minimum, maximum }),
    );
}

/** How many a page may have. */
export const limit = wholeNumber(1, mostOfPage);

export const cursor = z.string().min(1).max(500).optional().meta({ description: 'nextCursor of the previous page.' });

/** The query of a list in pages. */
export const pageQuerySchema = closedQuery({ limit: limit.default(20), cursor });

/** The same for a list that seldom has more than one page. */
export const listQuerySchema = closedQuery({ limit: limit.default(mostOfPage), cursor });

export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'cursor of the next page; null on the last page.' });
