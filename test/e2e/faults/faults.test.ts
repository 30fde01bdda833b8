import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'pg';
import { expect, it } from 'vitest';
import { createProjectReader } from '../../../db/for-worker/projects/projects.ts';
import { buildProject } from '../../support/database/build.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { mountSmallDisk } from '../../support/sandbox/small-disk.ts';
import { startTestStack, type TestStack } from '../../support/stack/stack.ts';
import { writingOf } from '../../support/writing-script.ts';

interface PublicJob {
  id: string;
  status: string;
  prLink: string | null;
  details: { message: string | null; failure: { category: string } | null };
}

const model = 'compatible/scripted';
const writing = writingOf('new\n'.repeat(10_000));

/** Creates a job and polls it until it has ended. */
async function runJob({ localJson }: TestStack, projectId: string, body: object): Promise<PublicJob> {
  const { baseUrl, adminKey } = localJson;
  const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
  const jobs = `${baseUrl}/v2/agent/${projectId}/job`;
  const created = await fetch(jobs, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(created.status).toBe(201);
  let job = (await created.json()) as PublicJob;
  while (job.status === 'active') {
    await delay(100);
    job = (await (await fetch(`${jobs}/${job.id}`, { headers })).json()) as PublicJob;
  }
  return job;
}

async function createProject({ localJson }: TestStack, repository: string): Promise<string> {
  const pool = new Pool({ connectionString: localJson.databaseUrl, max: 1 });
  try {
    const { organizationId } = (await createProjectReader(pool).get(localJson.projectId))!;
    return (await buildProject(pool, { organizationId, repository, forge: 'local' })).id;
  } finally {
    await pool.end();
  }
}

it('a repository that disappears and a full disk fail their jobs with the reason, and the worker stays healthy', async () => {
  await using server = await startScriptedModelServer();
  await using disk = await mountSmallDisk(48);
  await using stack = await startTestStack({
    env: {
      OPENAI_COMPATIBLE_BASE_URL: server.baseUrl,
      DOCKET_SELF_REVIEW: 'off',
      OPENAI_COMPATIBLE_API_KEY: 'key',
      ...(disk === null ? {} : { DOCKET_WORK_DIR: join(disk.directory, 'work') }),
    },
  });
  const { projectId, pids } = stack.localJson;
  await using repository = await createTestRepository(undefined, { path: join(stack.home, 'repositories/own.git') });
  const own = await createProject(stack, repository.path);

  server.script(writing[0]!, async () => {
    await rm(repository.path, { recursive: true });
    return writing[1]!;
  });
  const deleted = await runJob(stack, own, { prompt: 'Go', model });
  expect(deleted).toMatchObject({
    status: 'failed',
    prLink: null,
    details: { message: expect.stringMatching(/\w/), failure: { category: 'repository_unreachable' } },
  });

  // where no file system can be mounted, the first half still applies
  if (disk !== null) {
    server.script(async () => {
      await disk.fill();
      return writing[0]!;
    });
    const full = await runJob(stack, projectId, { prompt: 'Go', model });
    expect(full).toMatchObject({
      status: 'failed',
      prLink: null,
      details: { message: expect.stringMatching(/disk|write/), failure: { category: 'tool_failure' } },
    });
    await disk.empty();
  }

  server.script(...writing);
  const healthy = await runJob(stack, projectId, { prompt: 'Go', model });
  expect(healthy).toMatchObject({ status: 'completed', prLink: expect.any(String), details: { failure: null } });
  expect((await stack.read()).pids).toEqual(pids);
  expect(server.violations).toEqual([]);
});
