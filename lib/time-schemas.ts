import { z } from 'zod';

/** A time in JSON, in ISO 8601. */
export const time = z.string().meta({ format: 'date-time' });

export const timeOrNull = z.string().nullable().meta({ format: 'date-time' });

/** A time in a request. One without its zone would depend on the server's. */
export const givenTime = z.iso
  .datetime({ offset: true, message: 'must be a time with its zone, such as 2026-11-01T00:00:00Z' })
  .transform((text) => new Date(text));
