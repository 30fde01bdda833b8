import { describe, expect, it } from 'vitest';
import { jobCountsSchema } from '../../../../api/jobs/job-list-schemas.ts';
import type { ProjectRow } from '../../../../db/organizations/projects.ts';
import { buildJob, buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { insertEndedJobs } from '../../../support/database/many-jobs.ts';
import { serveApi } from '../serve.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));

async function stage(): Promise<{ project: ProjectRow; sibling: ProjectRow; key: string }> {
  const project = await buildProject(database.pool);
  const sibling = await buildProject(database.pool, { organizationId: project.organizationId });
  const { key } = await buildKey(database.pool, project);
  return { project, sibling, key };
}

describe('the jobs of an organization', () => {
  it('are counted by state, up to a thousand per status', async () => {
    const { project, sibling, key } = await stage();
    const { pool } = database;
    await buildJob(pool, project, { phase: 'running' });
    await buildJob(pool, sibling, { status: 'failed', failureCategory: 'cancelled' });
    await buildJob(pool, project, { status: 'failed', failureCategory: 'internal' });
    await buildJob(pool, await buildProject(pool));
    await insertEndedJobs(pool, project.id, 1_001, 'job_counted');
    const count = async (query: string) => (await api.ask(`/v1/jobs/counts?${query}`, { key })).body.counts;
    const exact = (state: string, number: number) => ({ state, count: number, isLowerBound: false });
    expect(await count('')).toEqual([
      exact('queued', 0),
      exact('running', 1),
      exact('waiting', 0),
      { state: 'completed', count: 1_000, isLowerBound: true },
      exact('failed', 1),
      exact('cancelled', 1),
      exact('archived', 0),
    ]);
    const ofLastHour = await count(
      `project=${project.id}&createdSince=${new Date(Date.now() - 3_570_000).toISOString()}`,
    );
    expect(ofLastHour).toContainEqual(exact('completed', 59));
    expect(ofLastHour).toContainEqual(exact('cancelled', 0));
  });

  it('are counted by the category of their failure', async () => {
    const { project, sibling, key } = await stage();
    const { pool } = database;
    const fail = (of: ProjectRow, failureCategory: string) => buildJob(pool, of, { status: 'failed', failureCategory });
    for (const category of ['ref_not_found', 'ref_not_found', 'cancelled']) await fail(project, category);
    await fail(sibling, 'step_limit');
    await fail(await buildProject(pool), 'internal');
    const failures = async (query: string) =>
      jobCountsSchema.strict().parse((await api.ask(`/v1/jobs/counts?${query}`, { key })).body).failures;
    const exact = (category: string, title: string, number: number, state = 'failed') => {
      return { category, title, state, count: number, isLowerBound: false };
    };
    const archived = { status: 'archived' } as const;
    await buildJob(pool, sibling, { ...archived, failureCategory: 'step_limit' });
    await buildJob(pool, sibling, { ...archived, failureCategory: 'cancelled' });
    await buildJob(pool, sibling, archived);
    const missing = exact('ref_not_found', 'The branch or commit does not exist in the repository', 2);
    const all = await failures('');
    expect(all).toHaveLength(3);
    expect(all).toContainEqual(missing);
    for (const state of ['failed', 'archived']) {
      expect(all).toContainEqual(exact('step_limit', 'The job ran out of steps', 1, state));
      const { body } = await api.ask(`/v1/jobs?failure=step_limit&state=${state}`, { key });
      expect(body.jobs).toHaveLength(1);
    }
    expect(await failures(`project=${project.id}`)).toEqual([missing]);
    await insertEndedJobs(pool, project.id, 1_001, 'job_failed');
    await pool.query(`update jobs set status = 'failed', failure_category = 'internal' where id like 'job_failed%'`);
    const many = await failures(`project=${project.id}`);
    expect(many.every(({ isLowerBound }) => isLowerBound)).toBe(true);
    // the newest 1,001 failed jobs are looked at, and one of them was cancelled
    expect(many.reduce((sum, { count }) => sum + count, 0)).toBe(1_000);
  });
});
