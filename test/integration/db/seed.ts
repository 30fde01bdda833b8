import type { Pool } from 'pg';
import { operatorOf } from '../../../db/caller.ts';
import { newId } from '../../../db/ids.ts';
import { createJobStore, type NewJob } from '../../../db/jobs/jobs.ts';
import type { NewSite } from '../../../db/sites/sites.ts';
import { buildProject, buildSite } from '../../support/database/build.ts';

/** An organization with a project. */
export async function seedProject(pool: Pool) {
  const repository = 'https://example.com/acme/web.git';
  const { organizationId, id } = await buildProject(pool, { name: 'web', repository, forge: 'local' });
  return { organizationId, projectId: id };
}

/** A job as a request creates it, not stored yet. */
export function newJob({ projectId }: { projectId: string }, change: Partial<NewJob> = {}): NewJob {
  return {
    id: newId('job_'),
    projectId,
    prompt: 'Replace "a" with "b" in README.md',
    repository: 'https://example.com/acme/web.git',
    requestedRef: null,
    model: 'offline/editor',
    draft: false,
    idempotency: null,
    ...change,
  };
}

/** A stored job in its first turn. */
export async function seedJob(pool: Pool) {
  const owner = await seedProject(pool);
  const job = newJob(owner);
  await createJobStore(pool).create(operatorOf(owner), job);
  return { jobId: job.id, turn: 1 };
}

export async function seedSite(pool: Pool, change: Partial<NewSite> & { organizationId?: string } = {}) {
  const { organizationId } = await seedProject(pool);
  const domain = newId('site_').slice(5);
  return buildSite(pool, { organizationId, domain, directory: '/docs', ...change });
}
