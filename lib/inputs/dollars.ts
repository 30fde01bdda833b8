import { z } from 'zod';

/** Parses an amount in US dollars, such as `2.50`, as millionths of a dollar. */
export const dollarsSchema = z
  .string()
  .regex(/^\d{1,9}(?:\.\d{1,6})?$/, 'must be an amount in US dollars, such as 2.50')
  .refine((text) => Number(text) > 0, 'must be more than 0')
  .transform((amount) => Math.round(Number(amount) * 1e6));
