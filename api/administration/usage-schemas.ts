import { z } from 'zod';
import { closedQuery } from '../http/closed-object.ts';
import { wholeNumber } from '../http/page-schemas.ts';
import { maxUsageDays, maxListed } from '../../db/organizations/usage.ts';

const count = z.number().int();
const day = z.string().meta({ format: 'date', description: 'A day (UTC).' });

/** Query of `GET /v1/usage`. */
export const usageQuerySchema = closedQuery({
  days: wholeNumber(1, maxUsageDays).default(30),
});

const usedDay = z.object({
  day,
  requests: count.meta({ description: 'Accurate to a few seconds.' }),
  refused: count.meta({ description: 'The part of these requests that a limit rejected.' }),
  busiestHour: count.meta({ description: 'Requests accepted in the busiest hour of the day.' }),
});

const usedDays = z.array(usedDay).max(maxUsageDays);

export const usageSchema = z.object({
  assistant: z.object({
    limitPerHour: count.meta({ description: 'Requests per hour, shared by all keys of the organization.' }),
    keys: z
      .array(z.object({ id: z.string(), name: z.string().nullable(), isRevoked: z.boolean(), days: usedDays }))
      .max(maxListed),
    organization: usedDays,
  }),
  projects: z
    .array(
      z.object({
        id: z.string(),
        name: z.string(),
        budgetUsd: z.number().nullable().meta({ description: 'Daily budget of its jobs; null for none.' }),
        days: z.array(z.object({ day, costUsd: z.number() })).max(maxUsageDays),
      }),
    )
    .max(maxListed),
});
export type PublicUsage = z.infer<typeof usageSchema>;
