import { z } from 'zod';
import { actorSchema } from '../administration/actor.ts';
import { closedQuery } from '../http/closed-object.ts';
import { agentJobSchema } from '../../db/jobs/agent-job.ts';
import { jobOrders } from '../../db/jobs/job-statements.ts';
import { jobStates, maxCounted, pullRequestStates } from '../../db/jobs/job-states.ts';
import { jobStatusSchema } from '../../workflows/contract/job.ts';
import { maxPageSize } from '../../db/page.ts';
import { nextCursor, pageQuerySchema } from '../http/page-schemas.ts';
import { givenTime, time, timeOrNull } from '../../lib/time-schemas.ts';

const project = z
  .string()
  .regex(/^[\w-]{1,64}$/, 'must be the id of a project')
  .optional()
  .meta({ description: 'Only jobs of this project.' });

const createdSince = givenTime.optional().meta({ description: 'Only jobs created at or after this time.' });

/** Several values of a parameter, which may be repeated or hold commas. */
function severalOf<Value extends z.ZodType<unknown, string>>(value: Value) {
  return z
    .string()
    .or(z.array(z.string()).max(10))
    .transform((given) => [given].flat().flatMap((text) => text.split(',')))
    .pipe(z.array(value).max(10))
    .default([]);
}

/** Query of `GET /v1/jobs`. */
export const jobListQuerySchema = pageQuerySchema.extend({
  status: severalOf(jobStatusSchema).meta({
    description: 'Statuses to include; repeat the parameter or separate them with commas.',
  }),
  state: severalOf(z.enum(jobStates)).meta({
    description:
      'States to include, which are finer than statuses: `queued` and `running` jobs are active, and `failed` leaves out `cancelled` ones.',
  }),
  project,
  model: z.string().max(200).optional().meta({ description: 'Only jobs with this model.' }),
  failure: z
    .string()
    .regex(/^[a-z_]{1,64}$/, 'must be a category of failures')
    .optional()
    .meta({ description: 'Only jobs whose failure has this category.' }),
  pullRequest: z
    .enum([...pullRequestStates, 'any'])
    .optional()
    .meta({ description: 'Only jobs whose pull request has this state; `any`: only jobs that have a pull request.' }),
  startedBy: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'Only jobs started by the person or key with this name (startedBy.name).' }),
  createdSince,
  order: z.enum(jobOrders).default('newest').meta({ description: 'Order by when the jobs were created.' }),
  q: z
    .string()
    .trim()
    .max(200)
    .optional()
    .meta({ description: 'Searches title, prompt, repository and branch; or the id of a job.' }),
});

/** Query of `GET /v1/jobs/counts`. */
export const jobCountsQuerySchema = closedQuery({ project, createdSince });

export const jobCountsSchema = z.object({
  counts: z
    .array(
      z.object({
        state: z.enum(jobStates),
        count: z.number().int().max(maxCounted),
        isLowerBound: z.boolean().meta({ description: 'True if there may be more jobs than were counted.' }),
      }),
    )
    .max(jobStates.length),
  failures: z
    .array(
      z.object({
        category: z.string(),
        title: z.string(),
        state: z.enum(jobStates),
        count: z.number().int().max(maxCounted),
        isLowerBound: z.boolean().meta({ description: 'True if there may be more jobs than were counted.' }),
      }),
    )
    .max(maxCounted)
    .meta({ description: 'Failed and archived jobs by the category of their failure, without cancelled ones.' }),
});

export const pullRequestCountsSchema = z.object({
  counts: z
    .array(
      z.object({
        state: z.enum(pullRequestStates),
        count: z.number().int().max(maxCounted),
        isLowerBound: z.boolean().meta({ description: 'True if there are older jobs that were not counted.' }),
      }),
    )
    .max(pullRequestStates.length),
});

/** Query of `GET /v1/jobs/events`. */
export const jobChangesQuerySchema = closedQuery({ project });

/** Last-Event-ID header of a reconnecting client: a time in microseconds. An empty value counts as absent. */
export const lastChangeId = z
  .string()
  .regex(/^\d{0,16}$/, 'must be an id from the stream')
  .optional()
  .transform((id) => id || null)
  .meta({ description: 'Resumes an interrupted stream; a job may be sent twice.' });

const listedJobSchema = agentJobSchema.extend({
  projectId: z.string(),
  prompt: z.string().meta({ description: 'The first 300 characters of the first prompt.' }),
  branch: z.string().nullable(),
  turn: z
    .number()
    .int()
    .meta({ description: 'The first prompt is turn 1; each follow-up after the job has ended starts another.' }),
  changedFiles: z
    .number()
    .int()
    .nullable()
    .meta({ description: 'Number of files that the published change touches; null before it is published.' }),
  additions: z
    .number()
    .int()
    .nullable()
    .meta({ description: 'Lines that the published change adds; null if they were not counted.' }),
  deletions: z
    .number()
    .int()
    .nullable()
    .meta({ description: 'Lines that the published change deletes; null if they were not counted.' }),
  startedBy: actorSchema,
  updatedAt: time,
  activeSince: timeOrNull.meta({ description: 'When the newest turn was requested; null when the job has ended.' }),
  endedAt: timeOrNull,
});
export type ListedJob = z.infer<typeof listedJobSchema>;

export const listedJobsSchema = z.object({ jobs: z.array(listedJobSchema).max(maxPageSize), nextCursor });
