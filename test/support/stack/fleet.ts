import { buildProject } from '../database/build.ts';
import { Client, Connection } from '@temporalio/client';
import { inject } from 'vitest';
import { createJobStarter } from '../../../api/jobs/job-starter.ts';
import { newId } from '../../../db/ids.ts';
import { createWorkerJobStore } from '../../../db/for-worker/jobs.ts';
import { createJobStore, type JobRow } from '../../../db/jobs/jobs.ts';
import { jobWorkflowId } from '../../../workflows/contract/messages.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { createTestRepository, type TestRepository } from '../git-repository.ts';
import { createTestNamespace } from '../sandbox/namespace.ts';
import { startScriptedModelServer, type ScriptedModelServer } from '../servers/scripted-model-server.ts';
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts';
import { operatorOf } from '../../../db/caller.ts';

/** Worker processes with their own database, repository and Temporal namespace. */
export interface Fleet extends AsyncDisposable {
  client: Client;
  namespace: string;
  database: TestDatabase;
  repository: TestRepository;
  model: ScriptedModelServer;
  /** Resolves when the new worker polls. */
  startWorker(env?: NodeJS.ProcessEnv, entry?: string): Promise<WorkerProcess>;
  /** Creates a job and starts its execution. */
  startJob(prompt: string, asked?: { repository?: string }): Promise<string>;
  /** Waits for the end of a job's execution and returns its row. */
  ended(jobId: string): Promise<JobRow>;
}

const standardLimits = { maxSteps: 50, maxTokens: 1_000_000, maxDurationMs: 300_000 };

export async function createFleet({ maxSteps = standardLimits.maxSteps } = {}): Promise<Fleet> {
  await using resources = new AsyncDisposableStack();
  const address = inject('temporalAddress');
  const connection = await Connection.connect({ address });
  resources.defer(() => connection.close());
  const namespace = await createTestNamespace(connection);
  const client = new Client({ connection, namespace });
  const database = resources.use(await createTestDatabase());
  const repository = resources.use(await createTestRepository());
  const model = resources.use(await startScriptedModelServer());
  const jobs = createWorkerJobStore(database.pool);
  const startExecution = createJobStarter({ client, limits: { ...standardLimits, maxSteps } });
  const project = await buildProject(database.pool, { repository: repository.path, forge: 'local' });
  const made = resources.move();

  return {
    client,
    namespace,
    database,
    repository,
    model,
    async startWorker(env = {}, entry = undefined) {
      const worker = made.use(
        await startWorkerProcess(
          {
            DATABASE_URL: database.url,
            TEMPORAL_ADDRESS: address,
            TEMPORAL_NAMESPACE: namespace,
            OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
            DOCKET_SELF_REVIEW: 'off',
            OPENAI_COMPATIBLE_API_KEY: 'key-of-the-model',
            DOCKET_LOCAL_REPOSITORIES: '/',
            ...env,
          },
          entry,
        ),
      );
      await worker.said('"msg":"worker ready"');
      return worker;
    },
    async startJob(prompt, { repository: place = repository.path } = {}) {
      const id = newId('job_');
      const asked = { prompt, repository: place, requestedRef: null, model: 'compatible/scripted' };
      await createJobStore(database.pool).create(operatorOf(project), {
        id,
        projectId: project.id,
        ...asked,
        draft: false,
        idempotency: null,
      });
      for (;;) {
        try {
          await startExecution({ jobId: id, turn: 1, organizationId: project.organizationId });
          return id;
        } catch (error) {
          // a new namespace takes a moment to reach all parts of Temporal
          if (!String(error).includes('not found')) throw error;
        }
      }
    },
    async ended(jobId) {
      await client.workflow
        .getHandle(jobWorkflowId(jobId, 1))
        .result()
        .catch(() => undefined);
      return (await jobs.get(jobId))!;
    },
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
}
