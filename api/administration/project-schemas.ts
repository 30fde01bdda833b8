import { z } from 'zod';
import { maxPageSize } from '../../db/page.ts';
import { closedBody } from '../http/closed-object.ts';
import { nextCursor } from '../http/page-schemas.ts';
import { maxNameLength, maxBranches, maxDocuments } from '../../db/organizations/project-repository.ts';
import { forgeKinds } from '../../db/organizations/projects.ts';
import { globSchema } from '../../lib/inputs/glob.ts';
import {
  branchSchema,
  checkCommandSchema,
  forgeTokenSchema,
  forgeUrlSchema,
  markSchema,
  modelNameSchema,
  nameSchema,
} from '../../lib/inputs/administration.ts';
import { maxFetchHosts, parseFetchHost } from '../../lib/inputs/fetch-hosts.ts';
import {
  maxOutputTokensSchema,
  modelListSchema,
  maxModels,
  reasoningEffortSchema,
} from '../../lib/inputs/model-choice.ts';
import { hostKeySchema, sshKeySchema } from '../../lib/inputs/ssh-keys.ts';
import { time } from '../../lib/time-schemas.ts';
import { maxEnvironmentLength, parseEnvironment } from '../../lib/environments/environment.ts';

/** The text of a description that a project has instead of its repository's. */
const environmentTextSchema = z
  .string()
  .max(maxEnvironmentLength)
  .superRefine((text, context) => {
    const parsed = parseEnvironment(text);
    if (!parsed.ok) context.addIssue(parsed.problem);
  });

const maxEntries = 100;
const marks = z.array(markSchema).max(maxEntries);

const fetchHostSchema = z.string().transform((text, context) => {
  const parsed = parseFetchHost(text);
  if (parsed.ok) return parsed.host;
  context.addIssue(parsed.problem);
  return z.NEVER;
});

/** `review`: a job's first turn only plans, until a person approves the plan. */
export const planSchema = z.enum(['none', 'review']);

/** Amount of a budget; null for none. */
export const budgetSchema = z
  .number()
  .refine(
    (dollars) => dollars >= 0.000001 && dollars <= 999_999_999,
    'must be an amount in US dollars from 0.000001 to 999999999',
  )
  .nullable();

/** Settings of a project that can be changed. */
const settings = {
  name: nameSchema,
  defaultRef: branchSchema.nullable().meta({ description: 'Base branch of jobs; null for the default branch.' }),
  model: modelNameSchema
    .nullable()
    .meta({ description: "provider/model of its jobs; null for the service's default." }),
  models: modelListSchema.nullable().meta({
    description:
      "Models of its jobs: the first, then fallbacks in the order in which they are used while those before them are down. Instead of model; null for the service's default.",
  }),
  reasoningEffort: reasoningEffortSchema
    .nullable()
    .meta({ description: "How much its jobs let a model think; null for the model's own default." }),
  maxOutputTokens: maxOutputTokensSchema
    .nullable()
    .meta({ description: "Limit of each answer of its jobs' models, in tokens; null for the model's own." }),
  allowedRepositories: z
    .array(z.string().max(2_048))
    .max(maxEntries)
    .meta({ description: 'Additional repositories that jobs may use.' }),
  forgeUrl: forgeUrlSchema.nullable().meta({ description: "Null for the root of the repository's server." }),
  reviewers: marks,
  labels: marks,
  assignees: marks,
  allowedPaths: z
    .array(globSchema)
    .max(maxEntries)
    .meta({ description: 'Globs of the paths that jobs may change; empty for all.' }),
  mayChangeWorkflows: z.boolean().meta({
    description: 'Whether jobs may change files that the forge runs automatically, such as .github/workflows.',
  }),
  mayRun: z.boolean().meta({ description: 'Whether agents may run commands; requires a worker with a sandbox.' }),
  plan: planSchema.meta({ description: 'Whether a person approves the plan of a job before it changes anything.' }),
  ask: z.boolean().meta({ description: 'Whether agents may ask a person questions and wait for the answers.' }),
  selfReview: z.boolean().nullable().meta({
    description: "Whether agents review their change before it is published; null for the service's setting.",
  }),
  checkCommand: checkCommandSchema
    .nullable()
    .meta({ description: 'Shell command that must succeed before a change is finished; null for none.' }),
  environment: environmentTextSchema.nullable().meta({
    description:
      "Where its jobs run, as the text of a .docket/environment.yml that replaces the repository's own; null for none.",
  }),
  fetchHosts: z.array(fetchHostSchema).max(maxFetchHosts).meta({
    description:
      'Hosts of the web pages that agents may fetch, such as docs.example.com or *.example.com, within DOCKET_FETCH_HOSTS of the worker.',
  }),
  jobBudgetUsd: budgetSchema.meta({ description: "Budget per turn of a job; null for the service's setting." }),
  dailyBudgetUsd: budgetSchema.meta({
    description: "Budget per day (UTC) for all jobs; null for the service's setting.",
  }),
  forgeToken: forgeTokenSchema.nullable().meta({
    writeOnly: true,
    description: "The project's token for the forge, never returned; null to use the worker's, which requires a grant.",
  }),
  sshKey: sshKeySchema.nullable().meta({
    writeOnly: true,
    description: 'Private key without a passphrase for repositories reached by ssh; never returned.',
  }),
  sshKnownHosts: z
    .array(hostKeySchema)
    .max(maxEntries)
    .meta({ description: 'Host keys of the servers reached by ssh, as printed by ssh-keyscan.' }),
};

const repository = z.string().max(2_048).meta({
  description:
    'Full URL: https://, ssh:// (with sshKey and sshKnownHosts), or file:/// below the local root. Responses have this form; git@host:owner/name and absolute paths are accepted, too.',
});

/**
 * Body of `PATCH /v1/projects/{id}`. Omitted fields stay unchanged. A new repository must be on the same forge, and
 * existing jobs keep the old one.
 */
export const changeProjectSchema = closedBody({ ...settings, repository }).partial();
export type ChangeProjectBody = z.infer<typeof changeProjectSchema>;

/** Body of `POST /v1/projects`. */
export const createProjectSchema = changeProjectSchema.extend({
  repository,
  forge: z
    .enum(forgeKinds)
    .optional()
    .meta({ description: "Required if it cannot be detected from the repository's host." }),
});

const { forgeToken: _forgeToken, sshKey: _sshKey, ...shown } = settings;

const shownEntries = z.array(z.string()).max(maxEntries);

export const projectSchema = z.object({
  id: z.string(),
  ...shown,
  name: z.string(),
  forgeUrl: z.string().nullable(),
  environment: z.string().nullable(),
  fetchHosts: z.array(z.string()).max(maxFetchHosts),
  models: z.array(z.string()).max(maxModels).nullable().meta({ description: settings.models.meta()?.description }),
  reviewers: shownEntries,
  labels: shownEntries,
  assignees: shownEntries,
  repository: z.string(),
  forge: z.enum(forgeKinds),
  hasForgeToken: z.boolean().meta({ description: 'Whether the project has its own forge token.' }),
  sshKnownHosts: shownEntries,
  hasSshKey: z.boolean().meta({ description: 'Whether the project has an ssh private key.' }),
  createdAt: time,
});
export type PublicProject = z.infer<typeof projectSchema>;

const repositoryName = z.string().max(maxNameLength);

/** Names found in a project's repository. */
export const repositoryNamesSchema = z.object({
  branches: z.array(repositoryName).max(maxBranches).meta({ description: 'Branches, newest commit first.' }),
  documents: z.array(repositoryName).max(maxDocuments).meta({ description: 'Paths of documents.' }),
});

export const projectListSchema = z.object({ projects: z.array(projectSchema).max(maxPageSize), nextCursor });
