import type { Pool } from 'pg';
import { newId } from '../../db/ids.ts';
import { createJobStore } from '../../db/jobs.ts';
import type { JobRow, NewJob } from '../../db/jobs.ts';
import { createWorkerJobStore } from '../../db/worker/jobs.ts';
import { createKeyStore } from '../../db/keys.ts';
import type { KeyRow } from '../../db/keys.ts';
import { createOrganizationStore, createProjectStore } from '../../db/projects.ts';
import type { OrganizationRow, ProjectRow } from '../../db/projects.ts';
import { createSiteStore } from '../../db/sites.ts';
import type { NewSite, SiteRow } from '../../db/sites.ts';
import { operatorOf } from '../../db/caller.ts';

/** The pepper of keys that tests make. */
export const testPepper = 'a pepper for tests only';

/** With a grant for everything, unless others are named. */
export async function buildOrganization(
  pool: Pool,
  { name = 'Acme', grants = ['*'] }: { name?: string; grants?: string[] } = {},
): Promise<OrganizationRow> {
  const organization = await createOrganizationStore(pool).create({ name });
  // the audit log of a test is its own
  await pool.query('insert into grants (organization_id, resource) select $1, unnest($2::text[])', [
    organization.id,
    grants,
  ]);
  return organization;
}

/** Makes an organization too, unless one is named. */
export async function buildProject(
  pool: Pool,
  project: Partial<Omit<ProjectRow, 'id' | 'createdAt'>> = {},
): Promise<ProjectRow> {
  return createProjectStore(pool).create({
    name: 'Docs',
    repository: 'https://github.com/acme/docs',
    defaultRef: null,
    model: null,
    forge: 'github',
    allowedRepositories: [],
    ...project,
    organizationId: project.organizationId ?? (await buildOrganization(pool)).id,
  });
}

/** `key` is the full text of the key. */
export function buildKey(
  pool: Pool,
  key: { organizationId: string; kind?: KeyRow['kind']; expiresAt?: Date },
): Promise<{ key: string; row: KeyRow }> {
  return createKeyStore(pool, testPepper).create({ kind: 'admin', ...key });
}

/** A job of the project; any column of its row may be given. */
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

export async function buildSite(pool: Pool, site: Partial<NewSite> = {}): Promise<SiteRow> {
  return createSiteStore(pool).create({
    domain: newId('site_').replace('_', '-'),
    repository: 'https://github.com/acme/docs',
    ...site,
    organizationId: site.organizationId ?? (await buildOrganization(pool)).id,
  });
}
