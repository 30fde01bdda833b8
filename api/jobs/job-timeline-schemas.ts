import { z } from 'zod';
import { maxMessagesPerTurn } from '../../db/jobs/job-messages.ts';
import { maxTimelinePageSize, maxLostAttempts } from '../../db/jobs/job-timeline.ts';
import { maxModels } from '../../lib/inputs/model-choice.ts';
import { actorSchema } from '../administration/actor.ts';
import { closedQuery } from '../http/closed-object.ts';
import { maxJobImages } from '../../db/jobs/job-images.ts';
import { imageTypes } from '../../lib/images/image.ts';
import { limit, wholeNumber } from '../http/page-schemas.ts';
import { counted, ofJob } from './job-schemas.ts';
import { time } from '../../lib/time-schemas.ts';

const place = /^([1-9]\d{0,5}|0)\.([1-9]\d{0,5}|0)$/;

/** Query of `GET …/job/{id}/steps`. */
export const stepsQuerySchema = closedQuery({
  after: z
    .string()
    .regex(place, 'must be a turn and a step, such as 1.20')
    .default('0.0')
    .transform((text) => {
      const [turn = 0, step = 0] = text.split('.').map(Number);
      return { turn, step };
    })
    .meta({ description: 'nextAfter of the previous page, or a turn and a step such as 1.20.' }),
  limit: limit.default(50),
});

/** Query of `GET …/job/{id}/turns`. */
export const turnsQuerySchema = closedQuery({
  after: wholeNumber(0, 999_999).default(0).meta({ description: 'nextAfter of the previous page.' }),
  limit: limit.default(maxTimelinePageSize),
});

export const ofStep = { ...ofJob, turn: counted, step: counted };

/** Query of `GET …/job/{id}/diff`. */
export const diffQuerySchema = closedQuery({ turn: counted.optional(), step: counted.optional() }).refine(
  ({ turn, step }) => (turn === undefined) === (step === undefined),
  {
    message: 'must be sent together with turn',
    path: ['step'],
  },
);

const shownImage = z.object({
  hash: z.string().meta({ description: 'Its content is at …/images/{hash}.' }),
  mediaType: z.enum(imageTypes),
  width: z.number().int(),
  height: z.number().int(),
  name: z.string().nullable(),
});
const shownImages = z.array(shownImage).max(maxJobImages);

/** Path parameters of a job's image. */
export const ofImage = { ...ofJob, hash: z.string().regex(/^[0-9a-f]{64}$/) };

export const turnListSchema = z.object({
  turns: z
    .array(
      z.object({
        turn: z.number().int(),
        prompt: z.string(),
        images: shownImages,
        status: z.enum(['active', 'completed', 'failed']),
        createdAt: time,
        endedAt: time.nullable(),
        baseCommit: z
          .string()
          .nullable()
          .meta({ description: 'Commit that the changes of the turn are compared with.' }),
        headCommit: z.string().nullable().meta({ description: 'Commit that the turn pushed; null for none.' }),
        startedBy: actorSchema,
        endedBy: actorSchema.meta({ description: 'Who cancelled it or rejected its plan; null when nobody did.' }),
        messages: z
          .array(
            z.object({
              prompt: z.string(),
              images: shownImages,
              step: z.number().int().nullable().meta({ description: 'First step that read it.' }),
              createdAt: time,
              sentBy: actorSchema,
            }),
          )
          .max(maxMessagesPerTurn),
      }),
    )
    .max(maxTimelinePageSize),
  nextAfter: z.number().int().nullable().meta({ description: 'after of the next page; null when there is none yet.' }),
});
export type PublicTurns = z.infer<typeof turnListSchema>;

export const stepSchema = z.object({
  turn: z.number().int(),
  step: z.number().int(),
  attempts: z.number().int().meta({ description: 'Number of times a worker claimed the step; 1 if nothing failed.' }),
  modelFailures: z.number().int().meta({ description: 'Number of times the model provider failed.' }),
  worker: z
    .string()
    .nullable()
    .meta({ description: 'Process id and host of the newest attempt; null if not known.', examples: ['12510@vm'] }),
  lostAttempts: z
    .array(z.object({ attempt: z.number().int(), worker: z.string().nullable(), startedAt: time, endedAt: time }))
    .max(maxLostAttempts)
    .meta({
      description:
        'Attempts that failed or lost their worker, oldest first. endedAt is when the next one began; the attempt stopped before.',
    }),
  model: z.string().nullable().meta({ description: 'The model that answered; null while there is no answer.' }),
  failedModels: z
    .array(z.object({ model: z.string(), failures: z.number().int() }))
    .max(maxModels)
    .meta({ description: 'Models whose calls of this step failed, with the number of failures.' }),
  text: z
    .string()
    .nullable()
    .meta({ description: "The model's text, truncated in lists; null while there is no answer." }),
  toolCalls: z
    .array(
      z.object({
        toolCallId: z.string(),
        toolName: z.string(),
        input: z.unknown().meta({ description: 'In lists, the beginning of its JSON if it is long.' }),
        output: z.string().nullable().meta({ description: 'Null while the tool runs; truncated in lists.' }),
        characters: z.number().int().nullable().meta({ description: 'Length of the complete output.' }),
        isError: z.boolean(),
        image: shownImage.nullable().meta({ description: 'The image that the tool showed to the model.' }),
        durationMs: z.number().int().nullable().meta({ description: 'Null while the tool runs, and when not known.' }),
      }),
    )
    .max(maxTimelinePageSize),
  finishReason: z.string().nullable(),
  usage: z.object({
    inputTokens: z.number().int().meta({ description: 'All input: cached, written to the cache, and fresh.' }),
    cachedInputTokens: z.number().int().meta({ description: 'Input that the provider read from its cache.' }),
    cacheWriteTokens: z.number().int().meta({ description: 'Input that the provider wrote to its cache.' }),
    freshInputTokens: z
      .number()
      .int()
      .meta({ description: 'Input that the provider neither read from nor wrote to its cache.' }),
    outputTokens: z.number().int(),
    costUsd: z.number().nullable().meta({ description: 'In US dollars; null when the price is not known.' }),
  }),
  changedFiles: z.number().int().nullable().meta({ description: 'Files changed so far; null for none.' }),
  hasChanged: z.boolean().meta({ description: 'Whether the step changed files.' }),
  startedAt: time,
  answeredAt: time.nullable(),
  endedAt: time.nullable(),
});
export type PublicStep = z.infer<typeof stepSchema>;

export const stepListSchema = z.object({
  steps: z.array(stepSchema).max(maxTimelinePageSize),
  nextAfter: z.string().nullable().meta({ description: 'after of the next page; null when there is none yet.' }),
});

/** Most of a request to a model that is shown: its newest messages. */
export const promptLimits = { maxMessages: 1_000, maxCharacters: 4_000_000 };

export const stepPromptSchema = z.object({
  model: z.string(),
  system: z.string(),
  omittedMessages: z.number().int().meta({ description: 'Number of messages before those shown.' }),
  messages: z
    .array(
      z.object({
        role: z.enum(['system', 'user', 'assistant', 'tool']),
        content: z
          .union([z.string(), z.array(z.looseObject({ type: z.string() })).max(1_000)])
          .meta({ description: 'A text, or the parts of a message of the AI SDK.' }),
      }),
    )
    .max(promptLimits.maxMessages),
  tools: z.array(z.string()).max(1_000).meta({ description: 'Names of the tools that the model could call.' }),
  toolDefinitions: z
    .array(
      z.object({
        name: z.string(),
        description: z.string(),
        inputSchema: z.record(z.string(), z.unknown()).meta({ description: 'JSON schema of the input.' }),
      }),
    )
    .max(1_000)
    .meta({
      description:
        "The tools exactly as they were sent. Of a step that an earlier version took, only those of MCP servers, because Docket's own were not stored.",
    }),
  match: z.enum(['exact', 'different', 'unknown']).meta({
    description:
      'exact: its hash is the one stored with the answer. different: prompts or tools have changed since, or a secret was masked. unknown: the step has no answer.',
  }),
});
