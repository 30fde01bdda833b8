import { z } from 'zod';
import { mostOfPage } from '../../db/page.ts';
import { nextCursor } from '../http/page-schemas.ts';
import { closedBody, closedQuery } from '../http/closed-object.ts';
import { jobEventTypes } from '../../db/jobs/event-types.ts';
import { agentJobSchema } from '../../db/jobs/agent-job.ts';
import { jobStatusSchema } from '../../workflows/contract/job.ts';

const longestPrompt = 100_000;

function isWithin(text: string, characters: number): boolean {
  // counted in characters, not in UTF-16 units; a text of so few units needs no counting
  return text.length <= characters || (text.length <= characters * 2 && [...text].length <= characters);
}

const promptSchema = z
  .string()
  .refine((text) => text.trim() !== '', 'must not be blank')
  .refine((text) => isWithin(text, longestPrompt), `must have at most ${longestPrompt} characters`)
  .meta({ description: 'What the agent is asked to do.', minLength: 1, maxLength: longestPrompt });

/** The body of `POST …/job/{id}/message`. */
export const jobMessageSchema = closedBody({ prompt: promptSchema });

/** The body of `POST …/job`. */
export const createJobSchema = closedBody({
  prompt: promptSchema,
  source: closedBody({
    repository: z.string().max(2048).optional().meta({
      description: "Full URL of a repository of the project, file:/// for a local one; without it the project's own.",
    }),
    ref: z
      .string()
      .max(255)
      .optional()
      .meta({ description: 'Branch, tag or commit to begin at; without it the default branch.' }),
  }).optional(),
  model: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'provider/model; without it the default of the project.' }),
  draft: z.boolean().optional().meta({ description: 'Whether the pull request is opened as a draft.' }),
});
export type CreateJobBody = z.infer<typeof createJobSchema>;

const count = z.number().int().min(1).max(999_999);

/** The body of `POST …/job/{id}/fork`. */
export const forkJobSchema = closedBody({
  turn: count.optional().meta({ description: 'Without it the newest turn.' }),
  step: count.meta({ description: 'The last step that the new job takes over; it must have ended.' }),
  model: createJobSchema.shape.model,
  prompt: promptSchema.optional().meta({ description: 'A message that the first new step reads.' }),
});

const pageSize = /^(?:[1-9]|[1-9][0-9]|100)$/;

/** The query of `GET …/jobs`. */
export const listJobsSchema = closedQuery({
  status: jobStatusSchema.optional(),
  limit: z.string().regex(pageSize, 'must be a whole number from 1 to 100').transform(Number).default(20),
  cursor: z.string().min(1).max(500).optional(),
});

export const jobListSchema = z.object({ jobs: z.array(agentJobSchema).max(mostOfPage), nextCursor });

const eventNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'must be the number of an event')
  .transform(Number);

/** The query of `GET …/job/{id}/events`; `limit` is for pages. */
export const eventsQuerySchema = closedQuery({
  after: eventNumber.default(0),
  limit: z
    .string()
    .regex(/^(?:[1-9]\d?|[1-4]\d\d|500)$/, 'must be a whole number from 1 to 500')
    .transform(Number)
    .default(100),
});

const counted = z
  .string()
  .regex(/^[1-9]\d{0,5}$/, 'must be a whole number from 1')
  .transform(Number);

/** The query of `GET …/job/{id}/history`. */
export const historyQuerySchema = closedQuery({ turn: counted.optional(), run: counted.optional() });

/** The headers of a watcher that comes back; an empty one is none. */
export const watcherHeadersSchema = z.object({
  'Last-Event-ID': z
    .string()
    .regex(/^\d{0,15}$/, 'must be the number of an event')
    .transform((id) => (id === '' ? null : Number(id))),
});

export const jobEventSchema = z.object({
  seq: z.number().int().meta({ description: 'Counts from 1 within the job, without gaps.' }),
  turn: z.number().int(),
  step: z.number().int().nullable(),
  type: z.enum(jobEventTypes),
  createdAt: z.string().meta({ format: 'date-time' }),
  data: z.record(z.string(), z.unknown()).meta({ description: 'By the type; fields may be added.' }),
});
export type PublicJobEvent = z.infer<typeof jobEventSchema>;

export const jobEventPageSchema = z.object({
  events: z.array(jobEventSchema).max(500),
  nextAfter: z.number().int().meta({ description: 'after of the next page.' }),
});
