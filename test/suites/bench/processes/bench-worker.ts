import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { createToolset } from '../../../../activities/tools/toolset.ts';
import { createActivities } from '../../../../activities/index.ts';
import { createKnownSecrets } from '../../../../lib/redaction/known-secrets.ts';
import { createPool } from '../../../../db/pool.ts';
import { createSecretBox } from '../../../../lib/encryption/secret-box.ts';
import { createPriceBook } from '../../../../models/prices.ts';
import { createProcessHost } from '../../../../activities/git/process-host.ts';
import { createClients } from '../../../../worker/clients.ts';
import { readConfig } from '../../../../worker/config/config.ts';
import { createWorker, jobQueue } from '../../../../worker/create-worker.ts';
import { createWorkerStores } from '../../../../worker/stores.ts';
import { prepareWorkflowBundle } from '../../../../worker/workflow-bundle.ts';
import { createAgentModel } from '../support/agent-model.ts';
import { answerParent } from '../support/answer-parent.ts';
import { countStatements } from '../support/count-statements.ts';

// The worker as it runs in production, with a model that answers after a fixed time.
Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
const config = readConfig(process.env);
const pool = createPool({
  url: config.database.url,
  maxConnections: config.database.connections ?? 20,
  applicationName: 'bench-worker',
});
const sent = countStatements(pool);
const stores = createWorkerStores({ pool, box: createSecretBox(config.encryptionKeys) });
const model = createAgentModel(Number(process.env['BENCH_MODEL_MS'] ?? 0));
const connection = await NativeConnection.connect({ address: config.temporal.address });
const processes = createProcessHost();
const activities = createActivities({
  ...createClients({ config, pullRequests: stores.pullRequests, processes }),
  ...stores,
  models: { languageModel: () => model, problemWith: () => null },
  prices: createPriceBook(config.prices),
  budgetCeilings: config.budgets,
  ...config.environments,
  toolset: createToolset(),
  commands: null,
  waitDays: config.waitDays,
  selfReview: false,
  secrets: createKnownSecrets([]),
});
const worker = await createWorker({
  connection,
  namespace: config.temporal.namespace,
  bundle: await prepareWorkflowBundle(),
  queue: { ...jobQueue(activities), maxConcurrentActivities: config.slots },
});
const run = worker.run();

answerParent({ sent: () => sent }, async () => {
  worker.shutdown();
  await run;
  processes[Symbol.dispose]();
  await connection.close();
  await pool.end();
});
