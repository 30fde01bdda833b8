import { z } from 'zod';
import { FailureType, failureOf } from '../../workflows/contract/failures.ts';
import {
  jobPhases,
  jobStatusSchema,
  type JobPhase,
  type JobStatus,
  type StepRef,
} from '../../workflows/contract/job.ts';
import { repositoryUrl } from '../../lib/inputs/repository.ts';

export const jobCheckSchema = z.object({
  command: z.string(),
  result: z.enum(['passed', 'failed', 'not-run']),
});
export type JobCheck = z.infer<typeof jobCheckSchema>;

/** The public job, by the specification; `details` is an addition. */
export const agentJobSchema = z.object({
  id: z.string(),
  status: jobStatusSchema,
  source: z.object({
    repository: z.string().meta({
      description: 'Full URL of the source repository; that of a local one begins with file:///.',
      examples: ['https://github.com/acme/lamp'],
    }),
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
    incomplete: z.string().nullable().meta({
      description:
        'What is missing, in a sentence: the agent said that a part of the task is not done, a limit stopped it, or the check did not pass. Null when nothing is.',
    }),
    check: jobCheckSchema
      .nullable()
      .meta({ description: "The project's check command on what was published; null when there is none." }),
    steps: z.number().int(),
    usage: z.object({
      inputTokens: z.number().int(),
      outputTokens: z.number().int(),
      costUsd: z
        .number()
        .nullable()
        .meta({ description: 'In US dollars; null when the price of a model it called is not known.' }),
    }),
    failure: z
      .object({ category: z.enum(FailureType), title: z.string(), remedy: z.string(), retryable: z.boolean() })
      .nullable()
      .meta({ description: 'Why a failed job failed, and what to do about it.' }),
    forkedFrom: z
      .object({ jobId: z.string(), turn: z.number().int(), step: z.number().int() })
      .nullable()
      .meta({ description: 'The step of another job that this one goes on from.' }),
    pullRequest: z
      .object({ state: z.enum(['open', 'closed', 'merged']), draft: z.boolean() })
      .nullable()
      .meta({ description: 'How the pull request stands; looked at from time to time and at each follow-up.' }),
  }),
});
export type AgentJob = z.infer<typeof agentJobSchema>;

/** What a job's row gives its public form. */
export interface PresentableJob {
  id: string;
  status: JobStatus;
  phase: JobPhase | null;
  repository: string;
  requestedRef: string | null;
  baseBranch: string | null;
  model: string;
  title: string | null;
  message: string | null;
  prLink: string | null;
  prState: 'open' | 'closed' | 'merged' | null;
  /** Null where it is not known. */
  prDraft: boolean | null;
  incomplete: string | null;
  check: JobCheck | null;
  steps: number;
  inputTokens: number;
  outputTokens: number;
  /** Millionths of a US dollar; null once a call had no known price. */
  costMicros: number | null;
  failureCategory: string | null;
  forkedFrom: StepRef | null;
  createdAt: Date;
  archivedAt: Date | null;
}

/** The public form of a job, field by field: what the API answers and what webhooks carry. */
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
      incomplete: isActive ? null : row.incomplete,
      check: isActive ? null : row.check,
      steps: row.steps,
      usage: {
        inputTokens: row.inputTokens,
        outputTokens: row.outputTokens,
        costUsd: row.costMicros === null ? null : row.costMicros / 1e6,
      },
      failure: isActive || row.failureCategory === null ? null : failureOf(row.failureCategory),
      forkedFrom: row.forkedFrom,
      pullRequest: row.prLink === null ? null : { state: row.prState ?? 'open', draft: row.prDraft ?? false },
    },
  };
}
