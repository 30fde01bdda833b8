import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { createRedactor } from '../activities/redaction.ts';
import { createPool } from '../db/pool.ts';
import { createJobBranchStore } from '../db/job-branches.ts';
import { createJobStore } from '../db/jobs.ts';
import { createProjectStore } from '../db/projects.ts';
import { createSiteStore } from '../db/sites.ts';
import { createClients } from './clients.ts';
import { indexFormat } from '../search/site-index.ts';
import { createWorkers, jobQueue, siteQueue } from './create-worker.ts';
import { createJobActivities } from './job-activities.ts';
import { createIndexActivities } from './site-activities.ts';
import { createJobChores } from './job-chores.ts';
import { createSiteChores } from './site-chores.ts';
import { createIdleJobs } from '../db/idle-jobs.ts';
import { ConfigError, readConfig, secretsOf } from './config.ts';
import { createLogger, installRuntime } from './log.ts';
import { runWorkers } from './run-workers.ts';
import { stopSignal } from './stop-signal.ts';
import { createWatchdog } from './watchdog.ts';
import { prepareWorkflowBundle } from './workflow-bundle.ts';
import { createWorkspaceChores } from './workspace-chores.ts';

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLogger({ level: config.logLevel, redact: createRedactor(secretsOf(config)) });
  installRuntime(log);
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  const signal = stopSignal(log);

  await using resources = new AsyncDisposableStack();
  const pool = createPool({ url: config.database.url, maxConnections: 20, applicationName: 'docket-worker' });
  resources.defer(() => pool.end());
  const { address, namespace } = config.temporal;
  const connection = Connection.lazy({ address });
  resources.defer(() => connection.close());
  const client = new Client({ connection, namespace });
  const idleJobs = createIdleJobs(pool);
  resources.use(createWatchdog({ idleJobs, jobs: createJobStore(pool), client, log }));

  resources.use(createSiteChores({ sites: createSiteStore(pool), client, log, indexFormat }));

  const clients = createClients({ config, pool });
  const branches = createJobBranchStore(pool);
  const projects = createProjectStore(pool);
  resources.use(createJobChores({ branches, projects, forges: clients.forges, client, log }));

  const { mirrorBytes } = config;
  resources.use(createWorkspaceChores({ workspaces: clients.workspaces, idleJobs, mirrorBytes, log }));

  const bundle = await prepareWorkflowBundle({ directory: join(config.workDirectory, 'cache') });
  const queues = [
    jobQueue(createJobActivities({ config, pool, clients })),
    siteQueue(createIndexActivities({ config, pool, clients })),
  ];
  await runWorkers({
    address,
    createWorkers: (connection) => createWorkers({ connection, namespace, bundle, queues }),
    log,
    signal,
  });
  log.info('worker stopped');
}

try {
  await main();
} catch (error) {
  if (error instanceof ConfigError) process.stderr.write(`${JSON.stringify({ level: 60, msg: error.message })}\n`);
  else process.stderr.write(`${JSON.stringify({ level: 60, msg: 'worker failed', error: String(error) })}\n`);
  process.exitCode = 1;
}
