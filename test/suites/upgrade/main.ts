import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { z } from 'zod';
import { readTool } from '../../../lib/inputs/tool-arguments.ts';
import { workerDeploymentName } from '../../../workflows/contract/messages.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { startServers, type ChaosServers } from '../chaos/servers/servers.ts';
import { askedBy, createJobClient, promptOf, replyTo, type JobClient } from './jobs.ts';
import { checkOut, migrateWith, provision, startApi, startWorker, thisRelease, type Release } from './release.ts';

/**
 * `npm run upgrade -- --from COMMIT`: upgrades a running service from an older commit to this one while a job is in the
 * middle of its steps: API first, worker first, and with build ids as docs/operations/upgrade.md says. Ends with 1 when a
 * request failed, a job was lost, or its model was asked more often than it must be.
 */

interface Way {
  name: string;
  first: 'api' | 'worker';
  /** Workers with build ids: the old one ends the turns that it began. Otherwise it is killed in the middle of one. */
  isVersioned: boolean;
}

const ways: Way[] = [
  { name: 'API first', first: 'api', isVersioned: false },
  { name: 'worker first', first: 'worker', isVersioned: false },
  { name: 'with build ids', first: 'worker', isVersioned: true },
];
const longTurn = { steps: 30, stallsAt: 5 };
const shortTurn = 1;

/** Polls a job until disposed of; returns what failed. */
function watchJob(client: JobClient, id: string, problems: string[]): AsyncDisposable {
  const until = new AbortController();
  const polled = (async () => {
    while (!until.signal.aborted) {
      await client.get(id).catch((error: unknown) => problems.push(`A poll during the upgrade: ${String(error)}`));
      await delay(50);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      until.abort();
      await polled;
    },
  };
}

/** Makes the workers of a build the current ones; Temporal refuses until they poll. */
async function setCurrent({ client, namespace, buildId }: { client: Client; namespace: string; buildId: string }) {
  for (;;) {
    try {
      const deployment = { namespace, deploymentName: workerDeploymentName, buildId };
      await client.workflowService.setWorkerDeploymentCurrentVersion(deployment);
      return;
    } catch {
      await delay(100);
    }
  }
}

async function upgrade(
  servers: ChaosServers,
  old: Release,
  { first, isVersioned }: Way,
  at: number,
): Promise<string[]> {
  await using resources = new AsyncDisposableStack();
  const problems: string[] = [];
  const databaseUrl = await servers.createEmptyDatabase(`upgrade_${at}`);
  const namespace = `upgrade-${at}`;
  await servers.createNamespace(namespace);
  const connection = await Connection.connect({ address: servers.temporalAddress });
  resources.defer(() => connection.close());
  const client = new Client({ connection, namespace });
  const repository = resources.use(await createTestRepository({ 'a.txt': 'one\n' }));
  const model = resources.use(await startScriptedModelServer());
  const stalled = Promise.withResolvers<void>();
  let calls = 0;
  model.respondWith((request) => {
    const asked = askedBy(request);
    const isLong = asked.steps === longTurn.steps;
    if (isLong) calls += 1;
    const isStalled = isLong && asked.step === longTurn.stallsAt && calls === asked.step;
    if (isStalled) stalled.resolve();
    return { ...replyTo(asked), ...(isStalled && { stall: true }) };
  });
  const env = {
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    TEMPORAL_NAMESPACE: namespace,
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    OPENAI_COMPATIBLE_API_KEY: 'key-of-the-model',
    DOCKET_AGENT_MODEL: 'compatible/scripted',
    DOCKET_LOCAL_REPOSITORIES: '/',
    DOCKET_SELF_REVIEW: 'off',
  };
  const workerEnv = ({ name }: Release) => ({ ...env, ...(isVersioned && { DOCKET_BUILD_ID: name }) });
  const current = async ({ name: buildId }: Release) => isVersioned && setCurrent({ client, namespace, buildId });

  await migrateWith(old, databaseUrl);
  const owner = await provision(old, { databaseUrl, repository: repository.path });
  const oldApi = resources.use(await startApi(old, env));
  const oldWorker = resources.use(await startWorker(old, workerEnv(old)));
  await current(old);
  let jobs = createJobClient(oldApi.baseUrl, owner);
  const long = await jobs.create(promptOf(longTurn.steps));
  await stalled.promise;

  const watch = watchJob(jobs, long, problems);
  await migrateWith(thisRelease, databaseUrl);
  const upgradeApi = async () => {
    const api = resources.use(await startApi(thisRelease, env));
    jobs = createJobClient(api.baseUrl, owner);
    await watch[Symbol.asyncDispose]();
    await oldApi[Symbol.asyncDispose]();
  };
  const upgradeWorker = async () => {
    resources.use(await startWorker(thisRelease, workerEnv(thisRelease)));
    await current(thisRelease);
    if (!isVersioned) await oldWorker[Symbol.asyncDispose]();
  };
  const between = async (what: string) => {
    const id = await jobs.create(promptOf(shortTurn));
    const { status, prLink } = await jobs.ended(id);
    if (status !== 'completed' || prLink === null) problems.push(`The job ${what} ended as ${status}.`);
  };
  await between('after the migration');
  await (first === 'api' ? upgradeApi() : upgradeWorker());
  await between('of two releases');
  await (first === 'api' ? upgradeWorker() : upgradeApi());
  model.release();
  await between('after the upgrade');

  const ended = await jobs.ended(long);
  if (ended.status !== 'completed' || ended.prLink === null) problems.push(`The long job ended as ${ended.status}.`);
  const most = longTurn.steps + 1 + (isVersioned ? 0 : 1);
  if (calls > most) problems.push(`The long job asked its model ${calls} times, which is more than ${most}.`);
  await jobs.message(long, promptOf(shortTurn));
  const followed = await jobs.ended(long);
  if (followed.status !== 'completed' || followed.prLink !== ended.prLink)
    problems.push(`The follow-up ended as ${followed.status} with ${followed.prLink}, not with ${ended.prLink}.`);
  const branches = (await repository.git('branch', '--list', '--format=%(refname:short)')).split('\n');
  if (branches.length !== 5)
    problems.push(`The repository has the branches ${branches.join(', ')}: one a job, and main.`);
  return [...problems, ...model.violations];
}

async function main(): Promise<void> {
  const { options } = readTool({
    command: 'npm run upgrade --',
    about: 'Upgrades a running service from an older commit to this one, in each order of API and worker.',
    options: { from: z.string().default('HEAD~1').describe('commit to upgrade from') },
  });
  await using resources = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'docket-upgrade-'));
  resources.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  const old = await checkOut(options.from, folder);
  const servers = resources.use(await startServers());
  let failed = 0;
  for (const [at, way] of ways.entries()) {
    const begin = Date.now();
    const problems = await upgrade(servers, old, way, at).catch((error: unknown) => [String(error)]);
    if (problems.length > 0) failed += 1;
    console.log(
      `${problems.length === 0 ? 'ok    ' : 'failed'}  ${way.name} (${Math.round((Date.now() - begin) / 1_000)} s)`,
    );
    for (const problem of problems) console.log(`        ${problem}`);
  }
  console.log(`${ways.length - failed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

await main();
