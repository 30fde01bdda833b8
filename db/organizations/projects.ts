import type { Pool, PoolClient } from 'pg';
import type { SecretBox } from '../../lib/encryption/secret-box.ts';
import type { ReasoningEffort } from '../../lib/inputs/model-choice.ts';
import { isSameRepository } from '../../lib/inputs/repository.ts';
import { writeAudit } from './audit.ts';
import type { Caller, Owner } from '../caller.ts';
import { canBeId, newId } from '../ids.ts';
import { maxChoices, readPage, type Page, type PageQuery } from '../page.ts';
import { withTransaction } from '../pool.ts';
import { projectCredentialOwner, projectSshKeyOwner } from './project-secrets.ts';
import { onlyRow } from '../rows.ts';

export const forgeKinds = ['local', 'github', 'gitlab', 'gitea'] as const;
/** `gitea` includes Forgejo. */
export type ForgeKind = (typeof forgeKinds)[number];

export interface ProjectRow {
  id: string;
  organizationId: string;
  name: string;
  repository: string;
  defaultRef: string | null;
  model: string | null;
  /** Models that its jobs ask while those before them are down, in this order. */
  fallbackModels: string[];
  /** Null for the default of the model. A job may override this and the next field. */
  reasoningEffort: ReasoningEffort | null;
  /** Limit of one answer, in tokens. */
  maxOutputTokens: number | null;
  forge: ForgeKind;
  /** The forge's public address; null for the root of the repository's server. */
  forgeUrl: string | null;
  allowedRepositories: string[];
  /** Labels, reviewers and assignees of its pull requests. */
  reviewers: string[];
  labels: string[];
  assignees: string[];
  /** Globs of the paths that jobs may change; empty for all. */
  allowedPaths: string[];
  /** Whether jobs may change files that the forge executes, such as `.github/workflows`. */
  mayChangeWorkflows: boolean;
  /** Whether agents may run commands if the worker has a sandbox. */
  mayRun: boolean;
  /** Whether its jobs only plan until a person approves their plan. A job may override it. */
  planReview: boolean;
  /** Whether its agents may ask a person questions. A job may override it. */
  mayAsk: boolean;
  /** Whether agents review their change before it is published; null for DOCKET_SELF_REVIEW. */
  selfReview: boolean | null;
  /** A shell command that must succeed before a change counts as finished; null for none. */
  checkCommand: string | null;
  /** Where its jobs run, instead of the repository's `.docket/environment.yml`; null for none. */
  environment: string | null;
  /** Hosts of the web pages that agents may fetch, as in `parseFetchHost`. */
  fetchHosts: string[];
  /** Budget of one turn, in millionths of a US dollar; null for DOCKET_MAX_JOB_DOLLARS. */
  jobBudgetMicros: number | null;
  /** Budget of all jobs per day (UTC); null for DOCKET_MAX_PROJECT_DOLLARS_PER_DAY. */
  dailyBudgetMicros: number | null;
  /** Whether it has its own token for its forge. */
  hasCredential: boolean;
  /** Host keys of the servers it reaches by ssh, each as `host type key`. */
  sshKnownHosts: string[];
  /** Whether the project has an ssh private key. */
  hasSshKey: boolean;
  createdAt: Date;
}

/** Default settings of a project. */
type ProjectDefaults = Pick<
  ProjectRow,
  | 'jobBudgetMicros'
  | 'dailyBudgetMicros'
  | 'forgeUrl'
  | 'reviewers'
  | 'labels'
  | 'assignees'
  | 'allowedPaths'
  | 'mayChangeWorkflows'
  | 'mayRun'
  | 'planReview'
  | 'mayAsk'
  | 'selfReview'
  | 'checkCommand'
  | 'environment'
  | 'fetchHosts'
  | 'sshKnownHosts'
  | 'fallbackModels'
  | 'reasoningEffort'
  | 'maxOutputTokens'
>;

/** The project's credentials for its forge; null removes one. They are stored encrypted, and no list returns them. */
interface ProjectSecrets {
  forgeToken?: string | null;
  sshKey?: string | null;
}

export type NewProject = Omit<
  ProjectRow,
  'id' | 'organizationId' | 'createdAt' | 'hasCredential' | 'hasSshKey' | keyof ProjectDefaults
> &
  Partial<ProjectDefaults> &
  ProjectSecrets;

/** Changes of the project's row. */
type ProjectSettings = Partial<
  ProjectDefaults & Pick<ProjectRow, 'name' | 'repository' | 'defaultRef' | 'model' | 'allowedRepositories'>
>;

export type ProjectChange = ProjectSettings & ProjectSecrets;

/** Columns that can be changed. */
const changeable: Record<keyof ProjectSettings, string> = {
  name: 'name',
  repository: 'repository',
  defaultRef: 'default_ref',
  model: 'model',
  fallbackModels: 'fallback_models',
  reasoningEffort: 'reasoning_effort',
  maxOutputTokens: 'max_output_tokens',
  allowedRepositories: 'allowed_repositories',
  forgeUrl: 'forge_url',
  reviewers: 'reviewers',
  labels: 'labels',
  assignees: 'assignees',
  allowedPaths: 'allowed_paths',
  mayChangeWorkflows: 'may_change_workflows',
  jobBudgetMicros: 'job_budget_micros',
  dailyBudgetMicros: 'daily_budget_micros',
  mayRun: 'may_run',
  planReview: 'plan_review',
  mayAsk: 'may_ask',
  selfReview: 'self_review',
  checkCommand: 'check_command',
  environment: 'environment',
  fetchHosts: 'fetch_hosts',
  sshKnownHosts: 'ssh_known_hosts',
};

type ProjectName = Pick<ProjectRow, 'id' | 'name' | 'repository' | 'model'>;

export const projectColumns = `
  id, organization_id as "organizationId", name, repository, default_ref as "defaultRef", model,
  fallback_models as "fallbackModels", reasoning_effort as "reasoningEffort", max_output_tokens as "maxOutputTokens", forge,
  forge_url as "forgeUrl", allowed_repositories as "allowedRepositories", reviewers, labels, assignees,
  allowed_paths as "allowedPaths", may_change_workflows as "mayChangeWorkflows", job_budget_micros::float8 as "jobBudgetMicros",
  daily_budget_micros::float8 as "dailyBudgetMicros", may_run as "mayRun", plan_review as "planReview", may_ask as "mayAsk", self_review as "selfReview", check_command as "checkCommand", environment, fetch_hosts as "fetchHosts", credential is not null as "hasCredential",
  ssh_known_hosts as "sshKnownHosts", ssh_key is not null as "hasSshKey",
  created_at as "createdAt"`;

export type ProjectStore = ReturnType<typeof createProjectStore>;

/** Creates the store of projects: a repository, and how jobs on it run. */
export function createProjectStore(pool: Pool, box: Pick<SecretBox, 'seal'>) {
  function create(caller: Caller, project: NewProject): Promise<ProjectRow> {
    const { name, repository, forge } = project;
    const id = newId('prj_');
    return withTransaction(pool, async (client) => {
      await client.query(
        'insert into projects (id, organization_id, name, repository, forge) values ($1, $2, $3, $4, $5)',
        [id, caller.organizationId, name, repository, forge],
      );
      const row = onlyRow(await write(client, caller, id, project));
      await writeAudit(client, caller, { action: 'project.create', subject: id, details: { repository } });
      return row;
    });
  }

  async function get({ organizationId }: Owner, id: string): Promise<ProjectRow | null> {
    if (!canBeId(id)) return null;
    const { rows } = await pool.query<ProjectRow>({
      name: 'find-project',
      text: `select ${projectColumns} from projects where id = $1 and organization_id = $2`,
      values: [id, organizationId],
    });
    return rows[0] ?? null;
  }

  /** Changes the given fields; null when there is no such project. */
  async function update(caller: Caller, id: string, change: ProjectChange): Promise<ProjectRow | null> {
    if (!canBeId(id)) return null;
    return withTransaction(pool, async (client) => {
      const [row] = await write(client, caller, id, change);
      if (row === undefined) return null;
      const fields = Object.keys(change).filter((name) => Reflect.get(change, name) !== undefined);
      await writeAudit(client, caller, { action: 'project.change', subject: id, details: { fields } });
      return row;
    });
  }

  async function write(
    client: PoolClient,
    { organizationId }: Owner,
    id: string,
    change: ProjectChange,
  ): Promise<ProjectRow[]> {
    const { forgeToken, sshKey } = change;
    const values: [column: string, value: unknown][] = [
      ...Object.entries(changeable).map(([name, column]): [string, unknown] => [column, Reflect.get(change, name)]),
      ['credential', forgeToken && box.seal(forgeToken, projectCredentialOwner(id))],
      ['ssh_key', sshKey && box.seal(sshKey, projectSshKeyOwner(id))],
    ];
    const given = values.filter(([, value]) => value !== undefined);
    const assignments = ['id = id', ...given.map(([column], position) => `${column} = $${position + 3}`)];
    const { rows } = await client.query<ProjectRow>(
      `update projects set ${assignments.join(', ')} where id = $1 and organization_id = $2 returning ${projectColumns}`,
      [id, organizationId, ...given.map(([, value]) => value)],
    );
    return rows;
  }

  /** Returns the first projects, for a picker. */
  async function names({ organizationId }: Owner): Promise<ProjectName[]> {
    const { rows } = await pool.query<ProjectName>(
      `select id, name, repository, model from projects
       where organization_id = $1 order by created_at, id limit ${maxChoices}`,
      [organizationId],
    );
    return rows;
  }

  /** Returns the project on a repository, else the organization's only one. */
  async function findOn({ organizationId }: Owner, repository: string | null): Promise<ProjectRow | null> {
    const { rows } = await pool.query<ProjectRow>(
      `select ${projectColumns} from projects where organization_id = $1
       order by repository = $2 desc nulls last, lower(repository) = lower($2) desc nulls last, created_at, id limit 2`,
      [organizationId, repository],
    );
    const [first = null, second] = rows;
    if (first === null || second === undefined) return first;
    return repository !== null && isSameRepository(first.repository, repository) ? first : null;
  }

  /** Oldest first. Throws InvalidCursorError. */
  const list = (owner: Owner, query: PageQuery): Promise<Page<ProjectRow>> =>
    readPage<ProjectRow>(pool, { table: 'projects', columns: projectColumns }, owner, query);

  return { create, get, list, names, findOn, update };
}

/** Returns all projects of an organization, which its quota bounds. */
export async function listProjects(pool: Pool, { organizationId }: Owner): Promise<ProjectRow[]> {
  const { rows } = await pool.query<ProjectRow>(
    `select ${projectColumns} from projects where organization_id = $1 order by created_at, id`,
    [organizationId],
  );
  return rows;
}
