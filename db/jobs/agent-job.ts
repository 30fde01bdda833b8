import { z } from 'zod';
import { FailureType, failureOf } from '../../workflows/contract/failures.ts';
import { jobPhases, jobStatusSchema } from '../../workflows/contract/job.ts';
import { maxOutputTokensSchema, maxModels, reasoningEffortSchema } from '../../lib/inputs/model-choice.ts';
import { repositoryUrl } from '../../lib/inputs/repository.ts';
import { maxQuestionChoices, type JobRow } from './jobs.ts';
import { time, timeOrNull } from '../../lib/time-schemas.ts';

const jobCheckSchema = z.object({
  command: z.string(),
  result: z.enum(['passed', 'failed', 'not-run']),
});
export type JobCheck = z.infer<typeof jobCheckSchema>;

const waitingSchema = z.object({
  for: z.enum(['approval', 'answer']),
  turn: z.number().int().meta({ description: 'The turn that ended with the plan or the question.' }),
  question: z.string().nullable(),
  choices: z
    .array(z.string())
    .max(maxQuestionChoices)
    .meta({ description: 'Suggested answers; another one may be sent, too.' }),
  since: timeOrNull,
  until: timeOrNull.meta({ description: 'The job fails with the category wait_expired at this time.' }),
  startedBy: z
    .object({
      name: z.string().nullable().meta({
        description: 'The person who was signed in, or the API key; null for an operator at the command line.',
      }),
      keyId: z.string().nullable(),
    })
    .nullable()
    .meta({
      description: 'Who started the job. Other members may decide, too. Null if unknown.',
    }),
});

/** The public job, as specified; `details` is an addition. */
export const agentJobSchema = z.object({
  id: z.string(),
  status: jobStatusSchema,
  source: z.object({
    repository: z.string().meta({
      description: 'Full URL of the source repository; the URL of a local one begins with file:///.',
      examples: ['https://github.com/acme/lamp'],
    }),
    ref: z.string().nullable().meta({ description: 'Git branch the agent works on.' }),
  }),
  model: z.string().meta({ description: 'The first model; details.models also has its fallbacks.' }),
  prLink: z
    .string()
    .nullable()
    .meta({ format: 'uri', description: 'Null while the job is active, or when there are no file changes.' }),
  createdAt: time,
  archivedAt: timeOrNull,
  details: z.object({
    phase: z.enum(jobPhases).nullable().meta({ description: 'The finer phase of an active job.' }),
    title: z.string().nullable(),
    message: z.string().nullable().meta({ description: "The agent's own words about what it did." }),
    plan: z.string().nullable().meta({ description: 'The newest plan for review, in Markdown.' }),
    waiting: waitingSchema
      .nullable()
      .meta({ description: 'What the job waits for in the phase `waiting`: a person approves its plan, or answers.' }),
    incomplete: z.string().nullable().meta({
      description:
        'What is missing, in one sentence: the agent reported that part of the task is not done, a limit stopped it, or the check did not pass. Null when nothing is missing.',
    }),
    check: jobCheckSchema
      .nullable()
      .meta({ description: "The project's check command on what was published; null when there is none." }),
    models: z.array(z.string()).max(maxModels).meta({
      description:
        'The first model, then fallbacks in the order in which they are used while those before them are down.',
    }),
    reasoningEffort: reasoningEffortSchema.nullable().meta({ description: "Null for the model's own." }),
    maxOutputTokens: maxOutputTokensSchema.nullable().meta({ description: "Null for the model's own." }),
    steps: z.number().int(),
    usage: z.object({
      inputTokens: z.number().int().meta({ description: 'All input: cached, written to the cache, and fresh.' }),
      cachedInputTokens: z.number().int().nullable().meta({
        description: 'Input that providers read from their caches; null for jobs that began before this was counted.',
      }),
      cacheWriteTokens: z.number().int().nullable().meta({
        description: 'Input that providers wrote to their caches; null like cachedInputTokens.',
      }),
      freshInputTokens: z.number().int().nullable().meta({
        description: 'Input that providers neither read from nor wrote to their caches; null like cachedInputTokens.',
      }),
      outputTokens: z.number().int(),
      costUsd: z
        .number()
        .nullable()
        .meta({ description: 'In US dollars; null when the price of one of its models is unknown.' }),
    }),
    failure: z
      .object({ category: z.enum(FailureType), title: z.string(), remedy: z.string(), retryable: z.boolean() })
      .nullable()
      .meta({ description: 'Why a failed job failed, and what to do about it.' }),
    forkedFrom: z
      .object({ jobId: z.string(), turn: z.number().int(), step: z.number().int() })
      .nullable()
      .meta({ description: 'The step of another job that this one continues from.' }),
    pullRequest: z
      .object({
        id: z.string(),
        number: z.number().int().nullable().meta({ description: 'Its number in the repository; null if unknown.' }),
        state: z.enum(['open', 'closed', 'merged']),
        draft: z.boolean(),
      })
      .nullable()
      .meta({ description: 'State of the pull request; checked periodically and at each follow-up.' }),
  }),
});
export type AgentJob = z.infer<typeof agentJobSchema>;

/** The parts of a job's row that its public form needs. */
export type PresentableJob = Omit<
  JobRow,
  | 'projectId'
  | 'organizationId'
  | 'baseCommit'
  | 'planReview'
  | 'mayAsk'
  | 'approvedTurn'
  | 'draft'
  | 'branch'
  | 'headTree'
  | 'headCommit'
  | 'prId'
  | 'waitingMessages'
  | 'updatedAt'
  | 'endedAt'
>;

/** Returns the public form of a job, field by field, for the API and for webhooks. */
export function presentJob(row: PresentableJob): AgentJob {
  const isActive = row.status === 'active';
  return {
    id: row.id,
    status: row.status,
    source: { repository: repositoryUrl(row.repository), ref: row.baseBranch ?? row.requestedRef },
    model: row.model,
    prLink: isActive ? null : row.prLink,
    createdAt: row.createdAt.toISOString(),
    archivedAt: row.archivedAt?.toISOString() ?? null,
    details: {
      phase: isActive ? row.phase : null,
      title: row.title,
      message: row.message,
      plan: row.plan,
      waiting: row.phase === 'waiting' ? waitingOf(row) : null,
      incomplete: isActive ? null : row.incomplete,
      check: isActive ? null : row.check,
      models: [row.model, ...row.fallbackModels],
      reasoningEffort: row.reasoningEffort,
      maxOutputTokens: row.maxOutputTokens,
      steps: row.steps,
      usage: usageOf(row),
      failure: isActive || row.failureCategory === null ? null : failureOf(row.failureCategory),
      forkedFrom: row.forkedFrom,
      pullRequest: pullRequestOf(row),
    },
  };
}

function usageOf({
  inputTokens,
  cachedTokens,
  cacheWriteTokens,
  outputTokens,
  costMicros,
}: PresentableJob): AgentJob['details']['usage'] {
  return {
    inputTokens,
    cachedInputTokens: cachedTokens,
    cacheWriteTokens,
    freshInputTokens:
      cachedTokens === null || cacheWriteTokens === null ? null : inputTokens - cachedTokens - cacheWriteTokens,
    outputTokens,
    costUsd: costMicros === null ? null : costMicros / 1e6,
  };
}

function pullRequestOf(row: PresentableJob): AgentJob['details']['pullRequest'] {
  const { pullRequestId: id, pullRequestNumber: number, prLink, prState, prDraft } = row;
  return prLink === null || id === null ? null : { id, number, state: prState ?? 'open', draft: prDraft ?? false };
}

function waitingOf({ turn, question, waitSince, waitUntil, waitsFor }: PresentableJob): AgentJob['details']['waiting'] {
  return {
    for: question === null ? 'approval' : 'answer',
    turn,
    question: question?.text ?? null,
    choices: question?.choices ?? [],
    since: waitSince?.toISOString() ?? null,
    until: waitUntil?.toISOString() ?? null,
    startedBy: waitsFor && { name: waitsFor.name, keyId: waitsFor.keyId },
  };
}
