import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import { createToolset } from '../../../activities/tools/toolset.ts';
import { createPageNetwork } from '../../../activities/tools/fetch/fetch-page.ts';
import { createForges, type ForgeServers } from '../../../activities/forges/forges.ts';
import { createTestGit } from '../git.ts';
import { createLayerFiles } from '../../../activities/environment/layer-files.ts';
import { createEnvironmentLayerStore } from '../../../db/for-worker/environment-layers.ts';
import { createProjectSecretReader } from '../../../db/for-worker/projects/project-secrets.ts';
import { createLocalForge } from '../../../activities/forges/local-forge.ts';
import { createWorkspaces } from '../../../activities/workspaces/workspaces.ts';
import { createActivities, type ActivityDeps } from '../../../activities/index.ts';
import { createKnownSecrets } from '../../../lib/redaction/known-secrets.ts';
import { createModelCallLeases } from '../../../db/for-worker/model-call-leases.ts';
import { createModelFailureStore } from '../../../db/for-worker/model-failures.ts';
import { createIdleJobs } from '../../../db/for-worker/idle-jobs.ts';
import { createGrantStore } from '../../../db/organizations/grants.ts';
import { newId } from '../../../db/ids.ts';
import { createWorkerImageStore } from '../../../db/for-worker/job-images.ts';
import { createJobContextStore } from '../../../db/for-worker/job-context.ts';
import { createWorkerEventStore } from '../../../db/for-worker/job-events.ts';
import { createJobBranchStore } from '../../../db/for-worker/job-branches.ts';
import type { NamedImage } from '../../../db/jobs/job-images.ts';
import { createIdleEndings } from '../../../db/for-worker/idle-endings.ts';
import { createWorkerMessageStore } from '../../../db/for-worker/job-messages.ts';
import { createWorkerJobStore } from '../../../db/for-worker/jobs.ts';
import { createJobStore, type JobRow } from '../../../db/jobs/jobs.ts';
import type { ForgeKind } from '../../../db/organizations/projects.ts';
import { createProjectCredentialReader, createProjectReader } from '../../../db/for-worker/projects/projects.ts';
import { createProjectToolReader } from '../../../db/for-worker/projects/project-tools.ts';
import { createProjectGuidanceReader } from '../../../db/for-worker/projects/project-guidance.ts';
import { createProjectRepositoryWriter } from '../../../db/for-worker/projects/project-repository.ts';
import { buildProject, operatorOfProject } from '../database/build.ts';
import { createWorkerPullRequestStore } from '../../../db/for-worker/pull-requests.ts';
import type { NewMessage } from '../../../db/jobs/job-messages.ts';
import { createEffectStore } from '../../../db/for-worker/effects.ts';
import { createStepStore } from '../../../db/for-worker/steps.ts';
import { createPriceBook } from '../../../models/prices.ts';
import { createDataConverter } from '../../../lib/encryption/data-converter.ts';
import type { ReasoningEffort } from '../../../lib/inputs/model-choice.ts';
import type { EncryptionKey } from '../../../lib/encryption/keys.ts';
import { createSecretBox } from '../../../lib/encryption/secret-box.ts';
import { createModelRegistry } from '../../../models/registry.ts';
import { createWorker, jobQueue } from '../../../worker/create-worker.ts';
import { prepareWorkflowBundle } from '../../../worker/workflow-bundle.ts';
import type { JobLimits } from '../../../workflows/contract/job.ts';
import { jobWorkflowId, jobWorkflowName } from '../../../workflows/contract/messages.ts';
import type { TestDatabase } from '../database/database.ts';
import { loopbackEgress } from '../servers/loopback.ts';
import { asOperator } from './operator.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

export interface TestJob {
  prompt: string;
  images?: NamedImage[];
  repository: string;
  requestedRef?: string;
  forge?: ForgeKind;
  model?: string;
  fallbackModels?: string[];
  reasoningEffort?: ReasoningEffort;
  maxOutputTokens?: number;
  draft?: boolean;
  planReview?: boolean;
  mayAsk?: boolean;
  /** Project of an earlier job; a new one by default. */
  projectId?: string;
}

export interface TestWorkerOptions {
  database: TestDatabase;
  /** Base URL of `compatible/…` models. */
  modelUrl?: string;
  encryptionKeys?: EncryptionKey[];
  /** Address at which its worker reaches Temporal; Temporal's own by default. */
  temporalAddress?: string;
  /** Task queue of an earlier worker, whose work this one continues. */
  taskQueue?: string;
  servers?: Partial<ForgeServers>;
  maxConcurrentActivities?: number;
  /** Replaces or wraps dependencies of the activities. */
  change?(deps: ActivityDeps): Partial<ActivityDeps>;
}

export interface TestWorker extends AsyncDisposable {
  client: Client;
  taskQueue: string;
  deps: ActivityDeps;
  /** Stores a job as the API does, without starting it. */
  createJob(job: TestJob): Promise<string>;
  startJob(jobId: string, limits?: Partial<JobLimits>, turn?: number): Promise<{ workflowId: string }>;
  /** Waits for the end of the execution of a turn and returns the job's row. */
  ended(jobId: string, turn?: number): Promise<JobRow>;
  /** Sends a message to an ended job, runs the new turn, and returns the job's row. */
  followUp(jobId: string, prompt: string, options?: Pick<NewMessage, 'mergeBase'>): Promise<JobRow>;
  /** Creates a job, starts it and waits for its end. */
  runJob(job: TestJob, limits?: Partial<JobLimits>): Promise<JobRow>;
}

const defaultLimits: JobLimits = { maxSteps: 20, maxTokens: 1_000_000, maxDurationMs: 120_000 };

/** Starts the real worker on a separate task queue, with real Temporal, database and git, and short retry delays. */
export async function startTestWorker(options: TestWorkerOptions): Promise<TestWorker> {
  quietRuntime();
  await using resources = new AsyncDisposableStack();
  const directory = temporaryDirectory();
  const address = inject('temporalAddress');
  const connection = await Connection.connect({ address });
  resources.defer(() => connection.close());
  const native = await NativeConnection.connect({ address: options.temporalAddress ?? address });
  resources.defer(() => native.close());

  const base = depsOf(options, directory);
  const deps = { ...base, ...options.change?.(base) };
  const { encryptionKeys = [], taskQueue = `test-${randomUUID()}` } = options;
  const dataConverter = createDataConverter(encryptionKeys);
  const { failureConverterPath } = dataConverter;
  const bundle = await prepareWorkflowBundle({ failureConverterPath });
  const queue = {
    ...jobQueue(createActivities(deps), taskQueue),
    maxConcurrentActivities: options.maxConcurrentActivities,
  };
  const worker = await createWorker({
    connection: native,
    namespace: 'default',
    bundle,
    dataConverter,
    queue,
    shutdownGraceMs: 0,
    workers: testWorkers,
  });
  const run = worker.run();
  resources.defer(async () => {
    worker.shutdown();
    await run;
  });

  const client = new Client({ connection, dataConverter });
  const running = resources.move();
  const { jobs } = deps;
  const { pool } = options.database;

  async function createJob({ forge = 'local', requestedRef, draft = false, model, ...job }: TestJob): Promise<string> {
    const projectId = job.projectId ?? (await buildProject(pool, { repository: job.repository, forge })).id;
    const id = newId('job_');
    await createJobStore(pool).create(await operatorOfProject(pool, projectId), {
      ...job,
      id,
      projectId,
      requestedRef: requestedRef ?? null,
      model: model ?? 'compatible/scripted',
      draft,
      idempotency: null,
    });
    return id;
  }

  async function startJob(jobId: string, limits: Partial<JobLimits> = {}, turn = 1) {
    return client.workflow.start(jobWorkflowName, {
      workflowId: jobWorkflowId(jobId, turn),
      taskQueue,
      args: [{ jobId, turn, limits: { ...defaultLimits, ...limits } }],
      workflowRunTimeout: '12 minutes',
    });
  }

  async function ended(jobId: string, turn = 1): Promise<JobRow> {
    await client.workflow
      .getHandle(jobWorkflowId(jobId, turn))
      .result()
      .catch(() => undefined);
    return (await jobs.get(jobId))!;
  }

  return {
    client,
    taskQueue,
    deps,
    createJob,
    startJob,
    ended,
    async followUp(jobId, prompt, options = {}) {
      const sent = await asOperator(pool).send({ jobId, prompt, idempotency: null, ...options });
      if (sent.kind !== 'began') throw new Error(`The message was ${sent.kind}.`);
      await startJob(jobId, {}, sent.job.turn);
      return ended(jobId, sent.job.turn);
    },
    async runJob(job, limits) {
      const id = await createJob(job);
      await startJob(id, limits);
      return ended(id);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function depsOf(
  { database: { pool }, modelUrl, servers, encryptionKeys }: TestWorkerOptions,
  directory: string,
): ActivityDeps {
  const git = createTestGit({
    home: join(directory, 'home'),
    transports: ['https', 'http', 'file', 'ssh'],
    egress: loopbackEgress,
  });
  const local = createLocalForge({ pullRequests: createWorkerPullRequestStore(pool), baseUrl: 'http://docket.test' });
  return {
    jobs: createWorkerJobStore(pool),
    messages: createWorkerMessageStore(pool),
    branches: createJobBranchStore(pool),
    endings: createIdleEndings(pool),
    idleJobs: createIdleJobs(pool),
    steps: createStepStore(pool),
    leases: createModelCallLeases(pool),
    modelFailures: createModelFailureStore(pool),
    events: createWorkerEventStore(pool),
    effects: createEffectStore(pool),
    projects: createProjectReader(pool),
    guidance: createProjectGuidanceReader(pool),
    repositoryNames: createProjectRepositoryWriter(pool),
    toolServers: createProjectToolReader(pool, createSecretBox(encryptionKeys ?? [])),
    network: { egress: loopbackEgress, privateHosts: ['127.0.0.1'] },
    pages: createPageNetwork({ hosts: [], privateHosts: [] }),
    credentials: createProjectCredentialReader(pool, createSecretBox(encryptionKeys ?? [])),
    models: createModelRegistry({
      compatible: modelUrl === undefined ? undefined : { baseUrl: modelUrl, apiKey: 'model-key-0123456789' },
    }),
    forges: createForges({ local, github: null, gitlab: null, gitea: null, egress: loopbackEgress, ...servers }),
    workspaces: createWorkspaces({ git, directory }),
    prices: createPriceBook(),
    context: createJobContextStore(pool),
    images: createWorkerImageStore(pool),
    budgetCeilings: { jobMicros: null, dayMicros: null, organizationMicros: null },
    toolset: createToolset(),
    commands: null,
    waitDays: 7,
    layers: createEnvironmentLayerStore(pool),
    layerFiles: createLayerFiles({ directory, maxBytes: 1e9 }),
    projectSecrets: createProjectSecretReader(pool, createSecretBox(encryptionKeys ?? [])),
    ...testEnvironments,
    selfReview: false,
    secrets: createKnownSecrets(['model-key-0123456789', ...tokensOf(servers)]),
    grants: createGrantStore(pool),
    problemWithRepository: () => null,
    roots: { repositories: '/', directories: null },
    timing: { retryBaseMs: 10 },
  };
}

const testSetup = { memoryBytes: 512 << 20, processes: 128, diskBytes: 64 << 20, totalBytes: 64 << 20 };
/** Operator’s limits on the environments of projects. */
const testEnvironments: Pick<ActivityDeps, 'ceilings' | 'layerBounds'> = {
  ceilings: {
    usual: { memoryBytes: 384 << 20, processes: 64, seconds: 60 },
    setup: testSetup,
    setupSeconds: 60,
    hosts: [],
    jobDiskBytes: null,
  },
  layerBounds: { maxLayers: 3, maxBytes: 1e9 },
};

function tokensOf({ github, gitlab, gitea }: Partial<ForgeServers> = {}): string[] {
  return [github?.token, gitlab?.token, gitea?.token].filter((token) => typeof token === 'string');
}

/** Creates workers whose workflows run in the tests' thread: a separate thread costs half a second of CPU per worker. */
export const testWorkers: Pick<typeof Worker, 'create'> = {
  create: (options) => Worker.create({ ...options, debugMode: true }),
};

let isQuiet = false;

/** Silences warnings that the tests provoke. */
export function quietRuntime(): void {
  if (isQuiet) return;
  isQuiet = true;
  Runtime.install({
    logger: new DefaultLogger((process.env['TEST_LOG_LEVEL'] as 'INFO' | undefined) ?? 'ERROR'),
    shutdownSignals: [],
    telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
  });
}
