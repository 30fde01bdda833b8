import { z } from 'zod';
import { closedQuery } from '../http/closed-object.ts';
import { agentJobSchema } from '../../db/jobs/agent-job.ts';
import { jobStatusSchema } from '../../workflows/contract/job.ts';
import { mostOfPage } from '../../db/page.ts';
import { nextCursor, pageQuerySchema } from '../http/page-schemas.ts';
import { time, timeOrNull } from '../../lib/time-schemas.ts';

const project = z
  .string()
  .regex(/^[\w-]{1,64}$/, 'must be the id of a project')
  .optional()
  .meta({ description: 'Only jobs of this project.' });

/** Query of `GET /v1/jobs`. */
export const jobListQuerySchema = pageQuerySchema.extend({
  status: z
    .string()
    .or(z.array(z.string()).max(10))
    .transform((given) => [given].flat().flatMap((text) => text.split(',')))
    .pipe(z.array(jobStatusSchema).max(10))
    .default([])
    .meta({ description: 'Statuses to include; repeat the parameter or separate them with commas.' }),
  project,
  q: z
    .string()
    .trim()
    .max(200)
    .optional()
    .meta({ description: 'Searches title, prompt, repository and branch; or the id of a job.' }),
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
  updatedAt: time,
  endedAt: timeOrNull,
});
export type ListedJob = z.infer<typeof listedJobSchema>;

export const listedJobsSchema = z.object({ jobs: z.array(listedJobSchema).max(mostOfPage), nextCursor });
