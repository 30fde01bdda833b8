import type { Pool } from 'pg';
import { newId } from '../../../db/ids.ts';
import { createJobStore } from '../../../db/jobs/jobs.ts';
import type { JobRow, NewJob } from '../../../db/jobs/jobs.ts';
import { createWorkerJobStore } from '../../../db/for-worker/jobs.ts';
import { createKeyStore } from '../../../db/organizations/keys.ts';
import type { KeyRow } from '../../../db/organizations/keys.ts';
import { operatorOf, type Caller } from '../../../db/caller.ts';
import { createOrganizationDirectory } from '../../../db/for-operator/organizations.ts';
import type { OrganizationRow } from '../../../db/organizations/organizations.ts';
import {
  createProjectStore,
  type NewProject,
  type ProjectChange,
  type ProjectRow,
} from '../../../db/organizations/projects.ts';
import { createSecretBox } from '../../../lib/encryption/secret-box.ts';
import { createSiteStore } from '../../../db/sites/sites.ts';
import { createSiteIndexing } from '../../../db/for-worker/site-indexing.ts';
import type { NewSite, SiteRow } from '../../../db/sites/sites.ts';
import type { Role } from '../../../lib/roles.ts';

/** The pepper of the tests' keys. */
export const testPepper = 'a pepper for tests only';

/** Creates an organization, by default with a grant for everything. */
export async function buildOrganization(
  pool: Pool,
  { name = 'Acme', grants = ['*'] }: { name?: string; grants?: string[] } = {},
): Promise<OrganizationRow> {
  const organization = await createOrganizationDirectory(pool).create({ name });
  // inserted directly, so that the audit log has only the test's own actions
  await pool.query('insert into grants (organization_id, resource) select $1, unnest($2::text[])', [
    organization.id,
    grants,
  ]);
  return organization;
}

/** Creates a project, and an organization unless one is given. */
export async function buildProject(
  pool: Pool,
  { organizationId, ...project }: Partial<NewProject> & { organizationId?: string } = {},
): Promise<ProjectRow> {
  const owner = { organizationId: organizationId ?? (await buildOrganization(pool)).id };
  return createProjectStore(pool, createSecretBox([])).create(operatorOf(owner), {
    name: 'Docs',
    repository: 'https://github.com/acme/docs',
    defaultRef: null,
    model: null,
    forge: 'github',
    allowedRepositories: [],
    ...project,
  });
}

/** Changes a project as the operator does. */
export async function changeProject(pool: Pool, id: string, change: ProjectChange, box = createSecretBox([])) {
  return createProjectStore(pool, box).update(await operatorOfProject(pool, id), id, change);
}

/** Returns the operator, acting for the organization of a project. */
export async function operatorOfProject(pool: Pool, id: string): Promise<Caller> {
  const { rows } = await pool.query('select organization_id as "organizationId" from projects where id = $1', [id]);
  if (rows[0] === undefined) throw new Error('There is no such project.');
  return operatorOf(rows[0]);
}

/** Creates a key; `key` is its full text. */
export function buildKey(
  pool: Pool,
  {
    organizationId,
    ...key
  }: { organizationId: string; kind?: KeyRow['kind']; role?: Role; name?: string; expiresInDays?: number },
): Promise<{ key: string; row: KeyRow }> {
  return createKeyStore(pool, testPepper).create(operatorOf({ organizationId }), { kind: 'admin', ...key });
}

/** Creates a job of the project; any column of its row may be given. */
export async function buildJob(pool: Pool, project: ProjectRow, job: Partial<NewJob & JobRow> = {}): Promise<JobRow> {
  const id = job.id ?? newId('job_');
  await createJobStore(pool).create(operatorOf(project), {
    projectId: project.id,
    prompt: 'Fix the typo.',
    repository: project.repository,
    requestedRef: null,
    model: 'offline/editor',
    draft: false,
    idempotency: null,
    ...job,
    id,
  });
  const columns = Object.entries(job).filter(([name]) => !['id', 'prompt', 'idempotency'].includes(name));
  for (const [name, value] of columns) {
    const column = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    await pool.query(`update jobs set ${column} = $2 where id = $1`, [id, value]);
  }
  const row = await createWorkerJobStore(pool).get(id);
  if (row === null) throw new Error('The job that was just made is not there.');
  return row;
}

/** Creates a site without an index: the test builds the index or requests one. */
export async function buildSite(
  pool: Pool,
  { organizationId, ...site }: Partial<NewSite> & { organizationId?: string } = {},
): Promise<SiteRow> {
  const owner = { organizationId: organizationId ?? (await buildOrganization(pool)).id };
  const source =
    site.directory === undefined && site.sources === undefined ? { repository: 'https://github.com/acme/docs' } : {};
  const domain = newId('site_').replace('_', '-');
  const { id } = await createSiteStore(pool).create(operatorOf(owner), { domain, ...source, ...site });
  await pool.query('update sites set index_requested_at = null where id = $1', [id]);
  return readSite(pool, id);
}

export async function readSite(pool: Pool, id: string): Promise<SiteRow> {
  const site = await createSiteIndexing(pool).get(id);
  if (site === null) throw new Error('There is no such site.');
  return site;
}
