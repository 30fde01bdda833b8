import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { expect, inject, it } from 'vitest';
import { createKnownSecrets } from '../../../../lib/redaction/known-secrets.ts';
import { createGrantedAccess } from '../../../../activities/job/granted-access.ts';
import { createGrantAdministration } from '../../../../db/for-operator/grants.ts';
import { operatorOf } from '../../../../db/caller.ts';
import { createGrantStore } from '../../../../db/organizations/grants.ts';
import { createProjectCredentialReader, createProjectReader } from '../../../../db/for-worker/projects/projects.ts';
import { createSecretBox } from '../../../../lib/encryption/secret-box.ts';
import type { Forge, Forges } from '../../../../activities/forges/forge.ts';
import { createForges } from '../../../../activities/forges/forges.ts';
import { createLocalForge } from '../../../../activities/forges/local-forge.ts';
import { createJobBranchStore } from '../../../../db/for-worker/job-branches.ts';
import { createChoreClaims } from '../../../../db/for-worker/chores.ts';
import { createIdleEndings } from '../../../../db/for-worker/idle-endings.ts';
import { createModelCallLeases } from '../../../../db/for-worker/model-call-leases.ts';
import { createWorkerJobStore } from '../../../../db/for-worker/jobs.ts';
import { createWorkerPullRequestStore } from '../../../../db/for-worker/pull-requests.ts';
import { createJobChores, type JobChoresDeps } from '../../../../worker/chores/job-chores.ts';
import { archiveJobsScheduleId, archiveJobsWorkflowName } from '../../../../workflows/contract/messages.ts';
import { buildJob, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { createFakeGithub } from '../../../support/forges/fake-github.ts';
import { createTestRepository } from '../../../support/git-repository.ts';
import { createTestNamespace } from '../../../support/sandbox/namespace.ts';
import { loopbackEgress } from '../../../support/servers/loopback.ts';
import { startTestWorker } from '../../../support/stack/worker.ts';

const log = pino({ level: 'silent' });

function depsOf(pool: Pool, { forges, client }: { forges: Forges; client: Client }): JobChoresDeps {
  return {
    branches: createJobBranchStore(pool),
    leases: createModelCallLeases(pool),
    endings: createIdleEndings(pool),
    chores: createChoreClaims(pool),
    granted: createGrantedAccess({
      grants: createGrantStore(pool),
      problemWithRepository: () => null,
      roots: { repositories: '/', directories: null },
      projects: createProjectReader(pool),
      credentials: createProjectCredentialReader(pool, createSecretBox([])),
      forges,
      secrets: createKnownSecrets([]),
    }),
    client,
    log,
    roundsEveryMs: 50,
  };
}

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
  const forges = createForges({ local, github: null, gitlab: null, gitea: null });
  const deps = depsOf(database.pool, { forges, client });
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
    forgeOf: async (job) => (job.repository === 'r' ? elsewhere : deps.granted.forgeOf(job)),
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

it('the pull requests of ended jobs are looked at with one token of a GitHub App', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const app = { appId: '123', privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
  await using database = await createTestDatabase();
  await using github = await createFakeGithub({
    app: { appId: '123', publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString() },
  });
  await using cleanup = new AsyncDisposableStack();
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  cleanup.defer(() => connection.close());
  const client = new Client({ connection, namespace: await createTestNamespace(connection) });
  const { url: repository } = await github.addRepository('acme/lamp');
  const project = await buildProject(database.pool, { repository, forge: 'github' });
  await createGrantAdministration(database.pool).grant(operatorOf(project), '*');
  const local = createLocalForge({ pullRequests: createWorkerPullRequestStore(database.pool), baseUrl: repository });
  const server = { apiUrl: github.apiUrl, token: null, app };
  const forges = createForges({ local, github: server, gitlab: null, gitea: null, egress: loopbackEgress });
  cleanup.use(createJobChores(depsOf(database.pool, { forges, client })));
  const store = createWorkerJobStore(database.pool);
  const text = { title: 'x', body: '', head: 'docket/1', base: 'main', draft: false, state: 'closed' as const };
  const marks = { labels: [], assignees: [], reviewers: [] };
  for (const number of [1, 2]) {
    github.pullRequests('acme/lamp').push({ number, ...text, mergedAt: '2026-01-01T00:00:00Z', ...marks });
    const ended = { status: 'completed', phase: null, endedAt: new Date(Date.now() - 60_000) } as const;
    const { id } = await buildJob(database.pool, project, { ...ended, prId: String(number), prState: 'open' });
    await expect.poll(async () => (await store.get(id))?.prState).toBe('merged');
  }
  expect(github.requests.map(({ operation }) => operation)).toEqual(['installation', 'token', 'get', 'get']);
  expect(github.violations).toEqual([]);
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
