import { z } from 'zod';
import { maxPageSize } from '../../db/page.ts';
import { closedQuery } from './closed-object.ts';

/** Returns the schema of a whole number in a path or a query. */
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

/** Number of items per page. */
export const limit = wholeNumber(1, maxPageSize);

export const cursor = z.string().min(1).max(500).optional().meta({ description: 'nextCursor of the previous page.' });

/** Query of a paginated list. */
export const pageQuerySchema = closedQuery({ limit: limit.default(20), cursor });

/** Query of a paginated list that seldom has more than one page. */
export const listQuerySchema = closedQuery({ limit: limit.default(maxPageSize), cursor });

export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'cursor of the next page; null on the last page.' });
