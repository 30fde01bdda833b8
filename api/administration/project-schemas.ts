import { z } from 'zod';
import { mostOfPage } from '../../db/page.ts';
import { closedBody } from '../http/closed-object.ts';
import { nextCursor } from '../http/page-schemas.ts';
import { forgeKinds } from '../../db/organizations/projects.ts';
import { compileGlob, GlobError } from '../../search/read/glob.ts';
import {
  branchSchema,
  checkCommandSchema,
  forgeTokenSchema,
  forgeUrlSchema,
  markSchema,
  modelNameSchema,
  nameSchema,
} from '../../lib/inputs/administration.ts';
import { hostKeySchema, sshKeySchema } from '../../lib/inputs/ssh-keys.ts';

const mostEntries = 100;
const marks = z.array(markSchema).max(mostEntries);

const globSchema = z.string().superRefine((text, context) => {
  try {
    compileGlob(text);
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    context.addIssue(`is no glob: ${error.message}`);
  }
});

const budgetSchema = z
  .number()
  .refine((dollars) => dollars >= 0.000001 && dollars <= 999_999_999, 'must be an amount in US dollars, above 0')
  .nullable();

/** Settings of a project that can be changed. */
const settings = {
  name: nameSchema,
  defaultRef: branchSchema.nullable().meta({ description: 'Branch that jobs begin at; null: the default branch.' }),
  model: modelNameSchema.nullable().meta({ description: "provider/model of its jobs; null: the service's default." }),
  allowedRepositories: z
    .array(z.string().max(2_048))
    .max(mostEntries)
    .meta({ description: 'Further repositories that jobs may name.' }),
  forgeUrl: forgeUrlSchema.nullable().meta({ description: 'Null: the root of where the repository lies.' }),
  reviewers: marks,
  labels: marks,
  assignees: marks,
  allowedPaths: z
    .array(globSchema)
    .max(mostEntries)
    .meta({ description: 'Globs of what jobs may change; none: everything.' }),
  mayChangeWorkflows: z
    .boolean()
    .meta({ description: 'Whether jobs may change what the forge runs by itself, such as .github/workflows.' }),
  mayRun: z
    .boolean()
    .meta({ description: 'Whether agents may run commands, where the worker has a sandbox for them.' }),
  checkCommand: checkCommandSchema
    .nullable()
    .meta({ description: 'Shell command that has to succeed before a change is finished; null: none.' }),
  jobBudgetUsd: budgetSchema.meta({ description: "What one turn of a job may cost; null: the service's setting." }),
  dailyBudgetUsd: budgetSchema.meta({
    description: "What all jobs of a day (UTC) may cost; null: the service's setting.",
  }),
  forgeToken: forgeTokenSchema.nullable().meta({
    writeOnly: true,
    description: "Its own token for the forge, which no answer shows; null: the worker's, under a grant.",
  }),
  sshKey: sshKeySchema.nullable().meta({
    writeOnly: true,
    description: 'Private key, without a passphrase, for repositories that are reached by ssh; no answer shows it.',
  }),
  sshKnownHosts: z
    .array(hostKeySchema)
    .max(mostEntries)
    .meta({ description: 'Keys of the servers that are reached by ssh, as lines of ssh-keyscan.' }),
};

const repository = z.string().max(2_048).meta({
  description:
    'Full URL: https://, ssh:// (with sshKey and sshKnownHosts), or file:/// below the local root. Answers hold it in this form; git@host:owner/name and an absolute path are read, too.',
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
    .meta({ description: 'Needed where the host of the repository does not tell it.' }),
});

const { forgeToken: _forgeToken, sshKey: _sshKey, ...shown } = settings;

const shownEntries = z.array(z.string()).max(mostEntries);

export const projectSchema = z.object({
  id: z.string(),
  ...shown,
  name: z.string(),
  forgeUrl: z.string().nullable(),
  reviewers: shownEntries,
  labels: shownEntries,
  assignees: shownEntries,
  repository: z.string(),
  forge: z.enum(forgeKinds),
  hasForgeToken: z.boolean().meta({ description: 'Whether it has a token of its own.' }),
  sshKnownHosts: shownEntries,
  hasSshKey: z.boolean().meta({ description: 'Whether it has a private key for ssh.' }),
  createdAt: z.string().meta({ format: 'date-time' }),
});
export type PublicProject = z.infer<typeof projectSchema>;

export const projectListSchema = z.object({ projects: z.array(projectSchema).max(mostOfPage), nextCursor });
