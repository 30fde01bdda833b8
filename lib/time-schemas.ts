import { z } from 'zod';

/** A time in JSON, in ISO 8601. */
export const time = z.string().meta({ format: 'date-time' });

export const timeOrNull = z.string().nullable().meta({ format: 'date-time' });
