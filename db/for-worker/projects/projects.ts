import type { Pool } from 'pg';
import type { SecretBox } from '../../../lib/encryption/secret-box.ts';
import type { Owner } from '../../caller.ts';
import { canBeId } from '../../ids.ts';
import { jobColumns } from '../../jobs/job-statements.ts';
import type { JobRow } from '../../jobs/jobs.ts';
import { projectCredentialOwner, projectSecretOwner, projectSshKeyOwner } from '../../organizations/project-secrets.ts';
import { openCredentials, type ServerValue } from '../../organizations/project-tools.ts';
import { listProjects, projectColumns, type ProjectRow } from '../../organizations/projects.ts';

/** A project with its credentials, which stay encrypted until they are needed. */
export interface ProjectAccess {
  project: ProjectRow;
  /** Returns the project's token for its forge; null when it has none. Throws SealedError. */
  token(): string | null;
  /** Returns the project's private key for ssh; null when it has none. Throws SealedError. */
  sshKey(): string | null;
  /** Returns the headers and environment variables of its MCP servers. Throws SealedError. */
  serverValues(): ServerValue[];
}

export type JobWithAccess = ProjectAccess & JobWithGrants;

interface JobWithGrants {
  job: JobRow;
  /** Models of the job that are skipped for now because they are down, the earliest first. */
  downModels: string[];
  grants: string[];
  /** The result of the effect that stored the environment of the job's turn; null before it. */
  environment: unknown;
  /** Returns the values of the secrets of the project's setup. Throws SealedError. */
  setupSecrets(): string[];
}

/** A project as JSON, whose time is a text. */
type SealedProject = Omit<ProjectRow, 'createdAt'> & {
  createdAt: string;
  sealedCredential: string | null;
  sealedSshKey: string | null;
  sealedServers: string | null;
};

type JobTime = 'createdAt' | 'updatedAt';
type OptionalJobTime = 'waitSince' | 'waitUntil' | 'endedAt' | 'archivedAt';

/** A job as JSON, whose times are texts, with its project and grants; credentials and secrets stay encrypted. */
export type SealedJob = Omit<JobRow, JobTime | OptionalJobTime> &
  Record<JobTime, string> &
  Record<OptionalJobTime, string | null> & {
    downModels: string[];
    project: SealedProject;
    /** Differs once the project has changed. */
    projectVersion: string;
    grants: string[];
    environment: unknown;
    secrets: [id: string, value: string][];
  };

/** Fields that may change while a model answers, and then end the turn or change its access. */
export type JobNow = Pick<SealedJob, 'status' | 'phase' | 'turn' | 'grants' | 'projectVersion'>;

/** Expression: the grants of an organization. */
export const grantsOf = (organization: string) =>
  `array(select resource from grants where grants.organization_id = ${organization})`;

/** Expression: the version of a project's row. */
export const projectVersionOf = (project: string) => `(select xmin::text from projects where id = ${project})`;

const sealedProject = `
  select to_json(project) from (
    select ${projectColumns}, credential as "sealedCredential", ssh_key as "sealedSshKey",
           (select credentials from project_tools where project_id = projects.id) as "sealedServers" from projects`;

/** Expression: the job `$1` as a `SealedJob`, so that any statement of a job can return it. */
export const sealedJob = `(
  select to_json(job) from (
    select ${jobColumns},
           array(select model from jsonb_each_text(models_down) as down (model, until)
                 where until::timestamptz > now() order by until::timestamptz) as "downModels",
           (${sealedProject} where id = jobs.project_id) as project) as project,
           ${projectVersionOf('jobs.project_id')} as "projectVersion",
           ${grantsOf('jobs.organization_id')} as grants,
           (select result from job_effects
            where job_id = jobs.id and job_effects.turn = jobs.turn and effect = 'environment') as environment,
           array(select array[id, value] from project_secrets
                 where project_secrets.project_id = jobs.project_id) as secrets
    from jobs where id = $1
  ) as job)`;

export type ProjectReader = ReturnType<typeof createProjectReader>;

/** Finds projects for the worker: by a job's project id, or all of the organization of a site. */
export function createProjectReader(pool: Pool) {
  return {
    async get(id: string): Promise<ProjectRow | null> {
      if (!canBeId(id)) return null;
      const { rows } = await pool.query<ProjectRow>({
        name: 'find-project-of-job',
        text: `select ${projectColumns} from projects where id = $1`,
        values: [id],
      });
      return rows[0] ?? null;
    },
    list: (owner: Owner): Promise<ProjectRow[]> => listProjects(pool, owner),
  };
}

export type ProjectCredentialReader = ReturnType<typeof createProjectCredentialReader>;

/** Creates the store that decrypts tokens and private keys of projects for the worker. */
export function createProjectCredentialReader(pool: Pool, box: Pick<SecretBox, 'open'>) {
  function accessOf({
    sealedCredential,
    sealedSshKey,
    sealedServers,
    createdAt,
    ...rest
  }: SealedProject): ProjectAccess {
    const open = (sealed: string | null, owner: string) => (sealed === null ? null : box.open(sealed, owner));
    return {
      project: { ...rest, createdAt: new Date(createdAt) },
      token: () => open(sealedCredential, projectCredentialOwner(rest.id)),
      sshKey: () => open(sealedSshKey, projectSshKeyOwner(rest.id)),
      serverValues: () => Object.values(openCredentials(box, rest.id, sealedServers)).flat(),
    };
  }

  /** Returns the same from a job that another statement has read. */
  function openJob(sealed: SealedJob): JobWithAccess {
    const { downModels, project, projectVersion: _, grants, environment, secrets, ...job } = sealed;
    const timeOf = (text: string | null) => (text === null ? null : new Date(text));
    return {
      job: {
        ...job,
        createdAt: new Date(job.createdAt),
        updatedAt: new Date(job.updatedAt),
        waitSince: timeOf(job.waitSince),
        waitUntil: timeOf(job.waitUntil),
        endedAt: timeOf(job.endedAt),
        archivedAt: timeOf(job.archivedAt),
      },
      downModels,
      grants,
      environment,
      setupSecrets: () => secrets.map(([id, value]) => box.open(value, projectSecretOwner(id))),
      ...accessOf(project),
    };
  }

  return {
    openJob,

    async read(projectId: string): Promise<ProjectAccess | null> {
      const { rows } = await pool.query<{ project: SealedProject | null }>({
        name: 'project-access',
        text: `select (${sealedProject} where id = $1) as project) as project`,
        values: [projectId],
      });
      const project = rows[0]?.project ?? null;
      return project === null ? null : accessOf(project);
    },

    /** Returns a job with its project, which exists as long as the job does, and its organization's grants. */
    async readOfJob(jobId: string): Promise<JobWithAccess | null> {
      if (!canBeId(jobId)) return null;
      const { rows } = await pool.query<{ job: SealedJob | null }>({
        name: 'job-access',
        text: `select ${sealedJob} as job`,
        values: [jobId],
      });
      const job = rows[0]?.job ?? null;
      return job === null ? null : openJob(job);
    },
  };
}
