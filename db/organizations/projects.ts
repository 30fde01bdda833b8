import type { Pool, PoolClient } from 'pg';
import type { SecretBox } from '../../lib/encryption/secret-box.ts';
import { writeAudit } from './audit.ts';
import type { Caller, Owner } from '../caller.ts';
import { canBeId, newId } from '../ids.ts';
import { mostChoices, readPage, type Page, type PageQuery } from '../page.ts';
import { withTransaction } from '../pool.ts';
import { projectCredentialOwner, projectSshKeyOwner } from './project-secrets.ts';
import { onlyRow } from '../rows.ts';

export const forgeKinds = ['local', 'github', 'gitlab', 'gitea'] as const;
/** `gitea` is Forgejo too. */
export type ForgeKind = (typeof forgeKinds)[number];

export interface ProjectRow {
  id: string;
  organizationId: string;
  name: string;
  repository: string;
  defaultRef: string | null;
  model: string | null;
  forge: ForgeKind;
  /** The address people reach the forge at; null: the root of where the repository lies. */
  forgeUrl: string | null;
  allowedRepositories: string[];
  /** Marks of its pull requests. */
  reviewers: string[];
  labels: string[];
  assignees: string[];
  /** Globs of what jobs may change; empty: everything. */
  allowedPaths: string[];
  /** Whether jobs may change what the forge runs by itself, such as `.github/workflows`. */
  mayChangeWorkflows: boolean;
  /** Whether agents may run commands, where the worker has a sandbox. */
  mayRun: boolean;
  /** A shell command that has to succeed before a change counts as finished; null: none. */
  checkCommand: string | null;
  /** What one turn of a job may cost, in millionths of a US dollar; null: DOCKET_MAX_JOB_DOLLARS. */
  jobBudgetMicros: number | null;
  /** What all jobs of a day (UTC) may cost; null: DOCKET_MAX_PROJECT_DOLLARS_PER_DAY. */
  dailyBudgetMicros: number | null;
  /** Whether it has a token of its own for its forge. */
  hasCredential: boolean;
  /** Keys of the servers it reaches by ssh, each as `host type key`. */
  sshKnownHosts: string[];
  /** Whether it has a private key for ssh. */
  hasSshKey: boolean;
  createdAt: Date;
}

/** What a project has unless it is given. */
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
  | 'checkCommand'
  | 'sshKnownHosts'
>;

/** What a project signs in to its forge with; null removes it. It is stored sealed, and no list shows it. */
export interface ProjectSecrets {
  forgeToken?: string | null;
  sshKey?: string | null;
}

export type NewProject = Omit<
  ProjectRow,
  'id' | 'organizationId' | 'createdAt' | 'hasCredential' | 'hasSshKey' | keyof ProjectDefaults
> &
  Partial<ProjectDefaults> &
  ProjectSecrets;

/** What is changed of the project's row. */
export type ProjectSettings = Partial<
  ProjectDefaults & Pick<ProjectRow, 'name' | 'repository' | 'defaultRef' | 'model' | 'allowedRepositories'>
>;

export type ProjectChange = ProjectSettings & ProjectSecrets;

/** The columns of what may be changed. */
const changeable: Record<keyof ProjectSettings, string> = {
  name: 'name',
  repository: 'repository',
  defaultRef: 'default_ref',
  model: 'model',
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
  checkCommand: 'check_command',
  sshKnownHosts: 'ssh_known_hosts',
};

export type ProjectName = Pick<ProjectRow, 'id' | 'name' | 'repository' | 'model'>;

export interface ProjectStore {
  create(caller: Caller, project: NewProject): Promise<ProjectRow>;
  get(owner: Owner, id: string): Promise<ProjectRow | null>;
  /** Oldest first. Throws InvalidCursorError. */
  list(owner: Owner, query: PageQuery): Promise<Page<ProjectRow>>;
  /** The first projects, for a choice. */
  names(owner: Owner): Promise<ProjectName[]>;
  /** The project on a repository, else the only one of the organization. */
  findOn(owner: Owner, repository: string | null): Promise<ProjectRow | null>;
  /** Changes what is given and leaves the rest; null: there is no such project. */
  update(caller: Caller, id: string, change: ProjectChange): Promise<ProjectRow | null>;
}

export const projectColumns = `
  id, organization_id as "organizationId", name, repository, default_ref as "defaultRef", model, forge,
  forge_url as "forgeUrl", allowed_repositories as "allowedRepositories", reviewers, labels, assignees,
  allowed_paths as "allowedPaths", may_change_workflows as "mayChangeWorkflows", job_budget_micros::float8 as "jobBudgetMicros",
  daily_budget_micros::float8 as "dailyBudgetMicros", may_run as "mayRun", check_command as "checkCommand", credential is not null as "hasCredential",
  ssh_known_hosts as "sshKnownHosts", ssh_key is not null as "hasSshKey",
  created_at as "createdAt"`;

/** Projects: a repository, and how jobs on it are run. */
export function createProjectStore(pool: Pool, box: Pick<SecretBox, 'seal'>): ProjectStore {
  function create(caller: Caller, project: NewProject): Promise<ProjectRow> {
    const { name, repository, defaultRef, model, forge, allowedRepositories } = project;
    return withTransaction(pool, async (client) => {
      const inserted = await client.query<{ id: string }>(
        `insert into projects (id, organization_id, name, repository, default_ref, model, forge, allowed_repositories,
                               job_budget_micros, daily_budget_micros, forge_url, reviewers, labels, assignees,
                               allowed_paths, may_change_workflows, may_run, check_command, ssh_known_hosts)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) returning id`,
        [
          newId('prj_'),
          caller.organizationId,
          name,
          repository,
          defaultRef,
          model,
          forge,
          allowedRepositories,
          project.jobBudgetMicros ?? null,
          project.dailyBudgetMicros ?? null,
          project.forgeUrl ?? null,
          project.reviewers ?? [],
          project.labels ?? [],
          project.assignees ?? [],
          project.allowedPaths ?? [],
          project.mayChangeWorkflows ?? false,
          project.mayRun ?? true,
          project.checkCommand ?? null,
          project.sshKnownHosts ?? [],
        ],
      );
      const row = onlyRow(await write(client, caller, onlyRow(inserted.rows).id, project));
      await writeAudit(client, caller, { action: 'project.create', subject: row.id, details: { repository } });
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

  async function names({ organizationId }: Owner): Promise<ProjectName[]> {
    const { rows } = await pool.query<ProjectName>(
      `select id, name, repository, model from projects
       where organization_id = $1 order by created_at, id limit ${mostChoices}`,
      [organizationId],
    );
    return rows;
  }

  async function findOn({ organizationId }: Owner, repository: string | null): Promise<ProjectRow | null> {
    const { rows } = await pool.query<ProjectRow>(
      `select ${projectColumns} from projects where organization_id = $1
       order by repository = $2 desc nulls last, created_at, id limit 2`,
      [organizationId, repository],
    );
    const [first = null, second] = rows;
    return first?.repository === repository || second === undefined ? first : null;
  }

  const list = (owner: Owner, query: PageQuery) =>
    readPage<ProjectRow>(pool, { table: 'projects', columns: projectColumns }, owner, query);

  return { create, get, list, names, findOn, update };
}

/** All projects of an organization, which its quota bounds. */
export async function listProjects(pool: Pool, { organizationId }: Owner): Promise<ProjectRow[]> {
  const { rows } = await pool.query<ProjectRow>(
    `select ${projectColumns} from projects where organization_id = $1 order by created_at, id`,
    [organizationId],
  );
  return rows;
}
