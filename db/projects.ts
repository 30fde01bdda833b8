import type { Pool } from 'pg';
import { canBeId, newId } from './ids.ts';
import { onlyRow } from './rows.ts';

export const forgeKinds = ['local', 'github', 'gitlab', 'gitea'] as const;
/** `gitea` is Forgejo too. */
export type ForgeKind = (typeof forgeKinds)[number];

export interface OrganizationRow {
  id: string;
  name: string;
  createdAt: Date;
}

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

export type NewProject = Omit<ProjectRow, 'id' | 'createdAt' | 'hasCredential' | 'hasSshKey' | keyof ProjectDefaults> &
  Partial<ProjectDefaults>;

export type ProjectChange = Partial<
  ProjectDefaults & Pick<ProjectRow, 'name' | 'defaultRef' | 'model' | 'allowedRepositories'>
>;

/** The columns of what may be changed. */
const changeable: Record<keyof ProjectChange, string> = {
  name: 'name',
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

export interface OrganizationStore {
  create(organization: { name: string }): Promise<OrganizationRow>;
  get(id: string): Promise<OrganizationRow | null>;
  list(): Promise<OrganizationRow[]>;
}

export interface ProjectStore {
  create(project: NewProject): Promise<ProjectRow>;
  get(id: string): Promise<ProjectRow | null>;
  list(organizationId?: string): Promise<ProjectRow[]>;
  /** Changes what is given and leaves the rest; null: there is no such project. */
  update(id: string, change: ProjectChange): Promise<ProjectRow | null>;
}

const organizationColumns = 'id, name, created_at as "createdAt"';

const projectColumns = `
  id, organization_id as "organizationId", name, repository, default_ref as "defaultRef", model, forge,
  forge_url as "forgeUrl", allowed_repositories as "allowedRepositories", reviewers, labels, assignees,
  allowed_paths as "allowedPaths", may_change_workflows as "mayChangeWorkflows", job_budget_micros::float8 as "jobBudgetMicros",
  daily_budget_micros::float8 as "dailyBudgetMicros", may_run as "mayRun", check_command as "checkCommand", credential is not null as "hasCredential",
  ssh_known_hosts as "sshKnownHosts", ssh_key is not null as "hasSshKey",
  created_at as "createdAt"`;

/** Organizations: who projects, sites and keys belong to. */
export function createOrganizationStore(pool: Pool): OrganizationStore {
  async function create({ name }: { name: string }): Promise<OrganizationRow> {
    const { rows } = await pool.query<OrganizationRow>(
      `insert into organizations (id, name) values ($1, $2) returning ${organizationColumns}`,
      [newId('org_'), name],
    );
    return onlyRow(rows);
  }

  async function get(id: string): Promise<OrganizationRow | null> {
    if (!canBeId(id)) return null;
    const { rows } = await pool.query<OrganizationRow>(
      `select ${organizationColumns} from organizations where id = $1`,
      [id],
    );
    return rows[0] ?? null;
  }

  async function list(): Promise<OrganizationRow[]> {
    const { rows } = await pool.query<OrganizationRow>(
      `select ${organizationColumns} from organizations order by created_at, id`,
    );
    return rows;
  }

  return { create, get, list };
}

/** Projects: a repository, and how jobs on it are run. */
export function createProjectStore(pool: Pool): ProjectStore {
  async function create(project: NewProject): Promise<ProjectRow> {
    const { organizationId, name, repository, defaultRef, model, forge, allowedRepositories } = project;
    const { rows } = await pool.query<ProjectRow>(
      `insert into projects (id, organization_id, name, repository, default_ref, model, forge, allowed_repositories,
                             job_budget_micros, daily_budget_micros, forge_url, reviewers, labels, assignees,
                             allowed_paths, may_change_workflows, may_run, check_command, ssh_known_hosts)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) returning ${projectColumns}`,
      [
        newId('prj_'),
        organizationId,
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
    return onlyRow(rows);
  }

  async function get(id: string): Promise<ProjectRow | null> {
    if (!canBeId(id)) return null;
    const { rows } = await pool.query<ProjectRow>({
      name: 'find-project',
      text: `select ${projectColumns} from projects where id = $1`,
      values: [id],
    });
    return rows[0] ?? null;
  }

  async function list(organizationId?: string): Promise<ProjectRow[]> {
    const { rows } = await pool.query<ProjectRow>(
      `select ${projectColumns} from projects where $1::text is null or organization_id = $1 order by created_at, id`,
      [organizationId ?? null],
    );
    return rows;
  }

  async function update(id: string, change: ProjectChange): Promise<ProjectRow | null> {
    if (!canBeId(id)) return null;
    const given = Object.entries(changeable).filter(([name]) => Reflect.get(change, name) !== undefined);
    const assignments = ['id = id', ...given.map(([, column], position) => `${column} = $${position + 2}`)];
    const { rows } = await pool.query<ProjectRow>(
      `update projects set ${assignments.join(', ')} where id = $1 returning ${projectColumns}`,
      [id, ...given.map(([name]) => Reflect.get(change, name))],
    );
    return rows[0] ?? null;
  }

  return { create, get, list, update };
}
