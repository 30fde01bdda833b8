import { z } from 'zod';
import { maxPageSize } from '../../db/page.ts';
import { cursor, limit, nextCursor, wholeNumber } from '../http/page-schemas.ts';
import { maxOutputTokensSchema, modelListSchema, reasoningEffortSchema } from '../../lib/inputs/model-choice.ts';
import { closedBody, closedQuery } from '../http/closed-object.ts';
import { jobEventTypes } from '../../db/jobs/event-types.ts';
import { imagesBytes, imagesSchema } from './prompt-images.ts';
import { planSchema } from '../administration/project-schemas.ts';
import { agentJobSchema } from '../../db/jobs/agent-job.ts';
import { jobStatusSchema } from '../../workflows/contract/job.ts';
import { time } from '../../lib/time-schemas.ts';

const maxPromptLength = 100_000;
const maxDecisionLength = 10_000;

/** Largest body with a prompt: 100,000 characters of up to four bytes, plus the other fields. */
export const promptBytes = 512 * 1024;
/** Largest body with a prompt and images. */
export const imagePromptBytes = promptBytes + imagesBytes;

export const projectId = z.string().meta({ description: 'The project identifier.' });
export const ofJob = { projectId, id: z.string().meta({ description: 'Unique identifier of the agent job.' }) };

function isWithin(text: string, characters: number): boolean {
  // count code points, not UTF-16 units; a text with few enough units needs no counting
  return text.length <= characters || (text.length <= characters * 2 && [...text].length <= characters);
}

const decisionText = z
  .string()
  .refine((text) => text.trim() !== '', 'must not be blank')
  .refine((text) => isWithin(text, maxDecisionLength), `must have at most ${maxDecisionLength} characters`);

const promptSchema = z
  .string()
  .refine((text) => text.trim() !== '', 'must not be blank')
  .refine((text) => isWithin(text, maxPromptLength), `must have at most ${maxPromptLength} characters`)
  .meta({ description: 'What the agent is asked to do.', minLength: 1, maxLength: maxPromptLength });

const readTurn = z.number().int().min(1).max(999_999).optional();

/** Body of `POST …/job/{id}/message`. */
export const jobMessageSchema = closedBody({
  prompt: promptSchema,
  images: imagesSchema.optional(),
  mergeBase: z.boolean().optional().meta({
    description:
      'Whether the turn begins by merging the base branch, so that the agent resolves conflicts and the pull request is up to date. Only for a job that is not running and whose pull request is open.',
  }),
  turn: readTurn.meta({
    description:
      'The turn of the question that this answers (details.waiting.turn); if the job has gone on since, the message is refused.',
  }),
});

/** Body of `POST …/job`. */
export const createJobSchema = closedBody({
  prompt: promptSchema,
  images: imagesSchema.optional(),
  source: closedBody({
    repository: z.string().max(2048).optional().meta({
      description: "Full URL of a repository of the project, file:/// for a local one. Defaults to the project's own.",
    }),
    ref: z
      .string()
      .max(255)
      .optional()
      .meta({ description: 'Branch, tag or commit to start from. Defaults to the default branch.' }),
  }).optional(),
  model: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: "provider/model. Defaults to the project's model." }),
  models: modelListSchema.optional().meta({
    description:
      "The first model, then fallbacks in the order in which they are used while those before them are down. Instead of model; defaults to the project's models.",
  }),
  reasoningEffort: reasoningEffortSchema
    .nullable()
    .optional()
    .meta({ description: "How much the model thinks; null for its own default. Defaults to the project's setting." }),
  maxOutputTokens: maxOutputTokensSchema.nullable().optional().meta({
    description: "Limit of each answer in tokens; null for the model's own. Defaults to the project's setting.",
  }),
  draft: z.boolean().optional().meta({ description: 'Whether the pull request is opened as a draft.' }),
  plan: planSchema.optional().meta({
    description:
      "review: the first turn reads only and ends in a plan, which a person approves before anything is changed. Defaults to the project's setting.",
  }),
  ask: z.boolean().optional().meta({
    description:
      "Whether the agent may ask a person questions and wait for the answers. Defaults to the project's setting.",
  }),
});
export type CreateJobBody = z.infer<typeof createJobSchema>;

const turnOfPlan = readTurn.meta({
  description: 'The turn of the plan that was read (details.waiting.turn); a newer plan is then not approved.',
});

/** Body of `POST …/job/{id}/approve`. */
export const approvePlanSchema = closedBody({
  turn: turnOfPlan,
  comment: decisionText.optional().meta({ description: 'A comment for the agent.' }),
}).prefault({});

/** Body of `POST …/job/{id}/reject`. */
export const rejectPlanSchema = closedBody({
  turn: turnOfPlan,
  reason: decisionText.optional().meta({ description: "Becomes a part of the job's message." }),
}).prefault({});

const count = z.number().int().min(1).max(999_999);

/** Body of `POST …/job/{id}/fork`. */
export const forkJobSchema = closedBody({
  turn: count.optional().meta({ description: 'Defaults to the newest turn.' }),
  step: count.meta({ description: 'Last step that the new job continues from. It must have ended.' }),
  model: createJobSchema.shape.model.meta({ description: "provider/model. Defaults to the other job's models." }),
  models: createJobSchema.shape.models.meta({
    description: "The first model, then its fallbacks. Instead of model; defaults to the other job's models.",
  }),
  prompt: promptSchema.optional().meta({
    description:
      'A message that the first new step reads. If the last step asked a question, the message is the answer.',
  }),
});

/** Query of `GET …/jobs`. */
export const listJobsSchema = closedQuery({
  status: jobStatusSchema.optional(),
  limit: limit.default(20),
  cursor,
});

export const jobListSchema = z.object({ jobs: z.array(agentJobSchema).max(maxPageSize), nextCursor });

const maxEventsPerPage = 500;

/** Query of `GET …/job/{id}/events`; `limit` applies to pages. */
export const eventsQuerySchema = closedQuery({
  after: wholeNumber(0, 999_999_999_999_999).default(0).meta({ description: 'Last known event.' }),
  limit: wholeNumber(1, maxEventsPerPage).default(100).meta({ description: 'Events per page.' }),
});

/** Number of a turn, step or run. */
export const counted = wholeNumber(1, 999_999);

/** Query of `GET …/job/{id}/history`. */
export const historyQuerySchema = closedQuery({
  turn: counted.optional().meta({ description: 'Defaults to the newest turn.' }),
  run: counted.optional().meta({ description: 'Defaults to the last run of the turn.' }),
});

/** Last-Event-ID header of a reconnecting client. An empty value counts as absent. */
export const lastEventId = z
  .string()
  .regex(/^\d{0,15}$/, 'must be the number of an event')
  .optional()
  .transform((id) => (id ? Number(id) : null))
  .meta({ description: 'Resumes after this event of the stream.' });

const jobEventSchema = z.object({
  seq: z.number().int().meta({
    description: 'Counts from 1 within the job. Only the numbers of deleted `output` events are missing later.',
  }),
  turn: z.number().int(),
  step: z.number().int().nullable(),
  type: z.enum(jobEventTypes),
  createdAt: time,
  data: z.record(z.string(), z.unknown()).meta({ description: 'Depends on the type; fields may be added.' }),
});
export type PublicJobEvent = z.infer<typeof jobEventSchema>;

export const jobEventPageSchema = z.object({
  events: z.array(jobEventSchema).max(maxEventsPerPage),
  nextAfter: z.number().int().meta({ description: 'after of the next page.' }),
});
