import { z } from 'zod';
import { FailureType } from '../workflows/contract/failures.ts';
import { jobEventTypes } from '../workflows/contract/job-events.ts';
import { jobPhases, jobStatusSchema } from '../workflows/contract/job.ts';

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
export const jobMessageSchema = z.object({ prompt: promptSchema });

/** The body of `POST …/job`. Unknown fields are ignored. */
export const createJobSchema = z.object({
  prompt: promptSchema,
  source: z
    .object({
      repository: z
        .string()
        .max(2048)
        .optional()
        .meta({ description: "A repository of the project; without it the project's own." }),
      ref: z
        .string()
        .max(255)
        .optional()
        .meta({ description: 'Branch, tag or commit to begin at; without it the default branch.' }),
    })
    .optional(),
  model: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'provider/model; without it the default of the project.' }),
  draft: z.boolean().optional().meta({ description: 'Whether the pull request is opened as a draft.' }),
});
export type CreateJobBody = z.infer<typeof createJobSchema>;

const pageSize = /^(?:[1-9]|[1-9][0-9]|100)$/;

/** The query of `GET …/jobs`. */
export const listJobsSchema = z.object({
  status: jobStatusSchema.optional(),
  limit: z.string().regex(pageSize, 'must be a whole number from 1 to 100').transform(Number).default(20),
  cursor: z.string().min(1).max(500).optional(),
});

/** The public job, by the specification; `details` is an addition. */
export const agentJobSchema = z.object({
  id: z.string(),
  status: jobStatusSchema,
  source: z.object({
    repository: z.string(),
    ref: z.string().nullable().meta({ description: 'Git branch the agent works on.' }),
  }),
  model: z.string(),
  prLink: z
    .string()
    .nullable()
    .meta({ format: 'uri', description: 'Null while the job is active, or when there are no file changes.' }),
  createdAt: z.string().meta({ format: 'date-time' }),
  archivedAt: z.string().nullable().meta({ format: 'date-time' }),
  details: z.object({
    phase: z.enum(jobPhases).nullable().meta({ description: 'The finer phase of an active job.' }),
    title: z.string().nullable(),
    message: z.string().nullable().meta({ description: "The agent's own words about what it did." }),
    steps: z.number().int(),
    usage: z.object({ inputTokens: z.number().int(), outputTokens: z.number().int() }),
    failure: z
      .object({ category: z.enum(FailureType), title: z.string(), remedy: z.string(), retryable: z.boolean() })
      .nullable()
      .meta({ description: 'Why a failed job failed, and what to do about it.' }),
    pullRequest: z
      .object({ state: z.enum(['open', 'closed', 'merged']) })
      .nullable()
      .meta({ description: 'What became of the pull request; looked at from time to time and at each follow-up.' }),
  }),
});
export type AgentJob = z.infer<typeof agentJobSchema>;

export const jobListSchema = z.object({ jobs: z.array(agentJobSchema), nextCursor: z.string().nullable() });

const eventNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'must be the number of an event')
  .transform(Number);

/** The query of `GET …/job/{id}/events`; `limit` is for pages. */
export const eventsQuerySchema = z.object({
  after: eventNumber.default(0),
  limit: z
    .string()
    .regex(/^(?:[1-9]\d?|[1-4]\d\d|500)$/, 'must be a whole number from 1 to 500')
    .transform(Number)
    .default(100),
});

/** The Last-Event-ID of a watcher that comes back; null when there is none. */
export const lastEventIdSchema = z
  .literal('')
  .transform(() => null)
  .or(eventNumber);

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
  events: z.array(jobEventSchema),
  nextAfter: z.number().int().meta({ description: 'after of the next page.' }),
});
