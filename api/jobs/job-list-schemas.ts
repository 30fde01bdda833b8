import { z } from 'zod';
import { closedQuery } from '../http/closed-object.ts';
import { agentJobSchema } from '../../db/jobs/agent-job.ts';
import { jobStatusSchema } from '../../workflows/contract/job.ts';
import { mostOfPage } from '../../db/page.ts';
import { listJobsSchema } from './job-schemas.ts';
import { nextCursor } from '../http/page-schemas.ts';

const id = z.string().regex(/^[\w-]{1,64}$/, 'must be the id of a project');

/** The query of `GET /v1/jobs`. */
export const jobListQuerySchema = closedQuery({
  status: z
    .string()
    .or(z.array(z.string()).max(10))
    .transform((given) => [given].flat().flatMap((text) => text.split(',')))
    .pipe(z.array(jobStatusSchema).max(10))
    .default([]),
  project: id.optional(),
  q: z.string().trim().max(200).optional(),
  limit: listJobsSchema.shape.limit,
  cursor: listJobsSchema.shape.cursor,
});

/** The query of `GET /v1/jobs/events`. */
export const jobChangesQuerySchema = closedQuery({ project: id.optional() });

/** The headers of a watcher that comes back: a time in microseconds; an empty one is none. */
export const changeWatcherHeadersSchema = z.object({
  'Last-Event-ID': z
    .string()
    .regex(/^\d{0,16}$/, 'must be one that the stream gave')
    .transform((id) => (id === '' ? null : id)),
});

export const listedJobSchema = agentJobSchema.extend({
  projectId: z.string(),
  prompt: z.string().meta({ description: 'The first 300 characters of what the job was asked first.' }),
  branch: z.string().nullable(),
  turn: z.number().int().meta({ description: 'The first prompt is turn 1; each follow-up after an end is another.' }),
  updatedAt: z.string().meta({ format: 'date-time' }),
  endedAt: z.string().nullable().meta({ format: 'date-time' }),
});
export type ListedJob = z.infer<typeof listedJobSchema>;

export const listedJobsSchema = z.object({ jobs: z.array(listedJobSchema).max(mostOfPage), nextCursor });
