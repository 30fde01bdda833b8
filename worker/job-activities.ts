import type { Pool } from 'pg';
import { createToolset } from '../activities/agent-tools/toolset.ts';
import { createActivities, type Activities } from '../activities/index.ts';
import { createJobEventStore } from '../db/job-events.ts';
import { createJobBranchStore } from '../db/job-branches.ts';
import { createJobEndings } from '../db/job-endings.ts';
import { createJobMessageStore } from '../db/job-messages.ts';
import { createJobStore } from '../db/jobs.ts';
import { createProjectStore } from '../db/projects.ts';
import { createEffectStore, createStepStore } from '../db/steps.ts';
import { createModelRegistry } from '../models/registry.ts';
import type { WorkerClients } from './clients.ts';
import { secretsOf, type WorkerConfig } from './config.ts';

/** Wires the activities of jobs with the real clients and stores. */
export function createJobActivities({
  config,
  pool,
  clients,
}: {
  config: WorkerConfig;
  pool: Pool;
  clients: WorkerClients;
}): Activities {
  return createActivities({
    ...clients,
    jobs: createJobStore(pool),
    messages: createJobMessageStore(pool),
    branches: createJobBranchStore(pool),
    endings: createJobEndings(pool),
    steps: createStepStore(pool),
    events: createJobEventStore(pool),
    effects: createEffectStore(pool),
    projects: createProjectStore(pool),
    models: createModelRegistry(config.models),
    toolset: createToolset(),
    secrets: secretsOf(config),
  });
}
