import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { expect, inject, it } from 'vitest';
import { createKnownSecrets } from '../../../../lib/redaction/known-secrets.ts';
import { createGrantedAccess } from '../../../../activities/job/granted-access.ts';
import { createGrantStore } from '../../../../db/organizations/grants.ts';
import { createProjectCredentialReader, createProjectReader } from '../../../../db/for-worker/projects/projects.ts';
import { createSecretBox } from '../../../../lib/encryption/secret-box.ts';
import type { Forge } from '../../../../activities/forges/forge.ts';
import { createForges } from '../../../../activities/forges/forges.ts';
import { createLocalForge } from '../../../../activities/forges/local-forge.ts';
import { createJobBranchStore } from '../../../../db/for-worker/job-branches.ts';
import { createChoreClaims } from '../../../../db/for-worker/chores.ts';
import { createIdleEndings } from '../../../../db/for-worker/idle-endings.ts';
import { createModelCallLeases } from '../../../../db/for-worker/model-call-leases.ts';
import { createWorkerJobStore } from '../../../../db/for-worker/jobs.ts';
import { createWorkerPullRequestStore } from '../../../../db/for-worker/pull-requests.ts';
import { createJobChores } from '../../../../worker/chores/job-chores.ts';
import { archiveJobsScheduleId, archiveJobsWorkflowName } from '../../../../workflows/contract/messages.ts';
import { buildJob, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { createTestRepository } from '../../../support/git-repository.ts';
import { createTestNamespace } from '../../../support/sandbox/namespace.ts';
import { startTestWorker } from '../../../support/stack/worker.ts';

const log = pino({ level: 'silent' });

it('the chores of jobs maintain the daily schedule and notice what became of pull requests', async () => {
  await using database = await createTestDatabase();
  await using cleanup = new AsyncDisposableStack();
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  cleanup.defer(() => connection.close());
  const client = new Client({ connection, namespace: await createTestNamespace(connection) });
  const pullRequests = createWorkerPullRequestStore(database.pool);
  const repository = `/srv/${randomUUID()}.git`;
  const project = await buildProject(database.pool, { repository, forge: 'local' });
  const draft = { repository, base: 'main', title: 'x', body: '', draft: false };
  const endedAt = new Date(Date.now() - 60_000);
  const jobs = [];
  for (const head of ['a', 'b']) {
    const { id: prId } = await pullRequests.create({ ...draft, head });
    const published = { prId, prLink: `http://docket.test/pulls/${prId}`, prState: 'open' as const };
    jobs.push(await buildJob(database.pool, project, { status: 'completed', phase: null, endedAt, ...published }));
  }
  const [merged, open] = jobs;
  await database.pool.query(`update pull_requests set state = 'merged' where id = $1`, [merged!.prId]);
  const local = createLocalForge({ pullRequests, baseUrl: 'http://docket.test' });
  const deps = {
    branches: createJobBranchStore(database.pool),
    leases: createModelCallLeases(database.pool),
    endings: createIdleEndings(database.pool),
    chores: createChoreClaims(database.pool),
    granted: createGrantedAccess({
      grants: createGrantStore(database.pool),
      problemWithRepository: () => null,
      roots: { repositories: '/', directories: null },
      projects: createProjectReader(database.pool),
      credentials: createProjectCredentialReader(database.pool, createSecretBox([])),
      forges: createForges({ local, github: null, gitlab: null, gitea: null }),
      secrets: createKnownSecrets([]),
    }),
    client,
    log,
    roundsEveryMs: 50,
  };
  const closed = await buildJob(database.pool, project, { status: 'completed', phase: null, endedAt, prId: '8' });
  await database.pool.query(
    `insert into pull_requests (id, repository, number, head, base, title, body, draft, state, job_id, organization_id, opened_by,
                                opened_in, check_due_at)
     select pull_request_of(id, '7'), 'r', 7, 'h', 'main', 'x', '', false, 'closed', id, organization_id, id, 1, now()
     from jobs where id = $1`,
    [closed.id],
  );
  // another forge, on which a person has reopened an earlier pull request
  const elsewhere = { pullRequestState: async () => ({ state: 'open', draft: false }) } as unknown as Forge;
  const granted: typeof deps.granted = {
    ...deps.granted,
    forgeOf: async (job) => ('id' in job && job.id === closed.id ? elsewhere : deps.granted.forgeOf(job)),
  };
  // two processes at once
  cleanup.use(createJobChores({ ...deps, granted }));
  cleanup.use(createJobChores({ ...deps, granted }));
  const store = createWorkerJobStore(database.pool);
  await expect.poll(async () => (await store.get(merged!.id))?.prState).toBe('merged');
  expect((await store.get(open!.id))?.prState).toBe('open');

  const stateOfClosed = async () =>
    (await database.pool.query('select state from pull_requests where job_id = $1', [closed.id])).rows[0]?.state;
  await expect.poll(stateOfClosed).toBe('open');
  const rounds = async () => (await database.pool.query('select name from chores order by name')).rows;
  await expect.poll(rounds).toEqual([{ name: 'abandoned model calls' }, { name: 'expired waits' }]);

  const schedule = client.schedule.getHandle(archiveJobsScheduleId);
  const described = () => schedule.describe().catch(() => null);
  await expect.poll(async () => (await described()) !== null).toBe(true);
  expect((await described())?.action).toMatchObject({
    workflowType: archiveJobsWorkflowName,
    args: [{ idleDays: 30 }],
  });
});

it('the workflow of the schedule archives idle jobs', async () => {
  await using database = await createTestDatabase();
  await using repository = await createTestRepository();
  await using worker = await startTestWorker({ database });
  const project = await buildProject(database.pool, { repository: repository.path, forge: 'local' });
  const endedAt = new Date(Date.now() - 40 * 24 * 60 * 60_000);
  const idle = await buildJob(database.pool, project, { status: 'failed', phase: null, endedAt });
  const active = await buildJob(database.pool, project);
  const { client, taskQueue, deps } = worker;
  const workflowId = `archive-${randomUUID()}`;
  const args = [{ idleDays: 30 }];
  expect(await client.workflow.execute(archiveJobsWorkflowName, { workflowId, taskQueue, args })).toBe(1);
  expect(await deps.jobs.get(idle.id)).toMatchObject({ status: 'archived', archivedAt: expect.any(Date) });
  expect(await deps.jobs.get(active.id)).toMatchObject({ status: 'active' });
});
