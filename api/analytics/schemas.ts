import { z } from 'zod';
import { maxListed } from '../../db/sites/site-analytics.ts';
import { time } from '../../lib/time-schemas.ts';
import { closedQuery } from '../http/closed-object.ts';
import { wholeNumber } from '../http/page-schemas.ts';
import { gapSchema } from '../sites/gap-schemas.ts';

/** Longest period, in days. */
const maxDays = 365;
/** Periods up to this long have hourly intervals. */
const hourlyDays = 7;
const maxPoints = Math.max(maxDays, hourlyDays * 24);

export function bucketSecondsOf(days: number): 3_600 | 86_400 {
  return days <= hourlyDays ? 3_600 : 86_400;
}

const name = z.string().max(200).optional();
const query = {
  days: wholeNumber(1, maxDays).default(30).meta({ description: 'Number of days (UTC), today last.' }),
  version: name.meta({ description: 'Only questions about this version; empty for questions about no version.' }),
  language: name.meta({
    description: 'Only questions about pages in this language; empty for pages without a language.',
  }),
};

/** Query of `GET …/analytics`. */
export const analyticsQuerySchema = closedQuery(query);

/** Names of the tables that can be exported. */
export const tableNames = ['series', 'topics', 'versions', 'languages', 'cited', 'opened', 'gaps'] as const;

/** Query of `GET …/analytics/csv`. */
export const tableQuerySchema = closedQuery({
  ...query,
  table: z.enum(tableNames).default('series').meta({ description: 'The list of the analytics to return.' }),
});

const count = z.number().int();
const measures = {
  questions: count.meta({ description: 'Questions of readers, without those asked in the dashboard.' }),
  answered: count,
  unanswered: count.meta({ description: 'Questions that the documentation does not answer.' }),
  interrupted: count.meta({ description: 'Answers that failed or that the reader stopped.' }),
  up: count.meta({ description: 'Answers rated helpful.' }),
  down: count,
  conversations: count.meta({ description: 'Conversations that began.' }),
  resolved: count.meta({
    description: 'Conversations whose latest question is answered and in which no answer is rated down.',
  }),
  confirmed: count.meta({ description: 'Resolved conversations in which an answer is rated up.' }),
  costUsd: z.number(),
};
const share = z.number().nullable().meta({ description: 'From 0 to 1; null if nothing was counted.' });
const named = z.object({ name: z.string().nullable().meta({ description: 'Null for none.' }), ...measures });
const pages = z
  .array(
    z.object({
      path: z.string(),
      cited: count.meta({ description: 'Answers that cite the page.' }),
      opened: count.meta({ description: 'Times that readers opened the page through Docket.' }),
    }),
  )
  .max(maxListed);

export const analyticsSchema = z.object({
  from: time,
  to: time,
  bucketSeconds: count,
  totals: z.object({
    ...measures,
    answeredShare: share.meta({ description: 'Share of answered questions among answered and unanswered ones.' }),
    deflection: z.object({ confirmed: share, resolved: share }).meta({
      description:
        'Lower and upper bound of the share of conversations that needed no person: confirmed and resolved ones.',
    }),
  }),
  series: z.array(z.object({ at: time, ...measures })).max(maxPoints),
  topics: z.array(named).max(maxListed).meta({ description: 'By section of the documentation; most asked first.' }),
  versions: z.array(named).max(maxListed),
  languages: z.array(named).max(maxListed),
  cited: pages.meta({ description: 'Most cited pages.' }),
  opened: pages.meta({ description: 'Most opened pages.' }),
  gaps: z
    .array(gapSchema.pick({ id: true, label: true, state: true, count: true, lastAskedAt: true }))
    .max(maxListed)
    .meta({ description: 'What the documentation lacks: gaps with a question in this period; most asked first.' }),
});
export type PublicAnalytics = z.infer<typeof analyticsSchema>;
