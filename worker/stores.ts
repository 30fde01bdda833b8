import type { Pool } from 'pg';
import { createAskedSteps } from '../db/worker/asked-steps.ts';
import { createRetentionStore } from '../db/worker/retention.ts';
import { createBudgetStore } from '../db/worker/budgets.ts';
import { createJobContextStore } from '../db/worker/job-context.ts';
import { createIdleJobs } from '../db/worker/idle-jobs.ts';
import { createJobBranchStore } from '../db/worker/job-branches.ts';
import { createIdleEndings } from '../db/worker/idle-endings.ts';
import { createWorkerEventStore } from '../db/worker/job-events.ts';
import { createWorkerMessageStore } from '../db/worker/job-messages.ts';
import { createWorkerHistoryStore } from '../db/worker/job-histories.ts';
import { createWorkerJobStore } from '../db/worker/jobs.ts';
import { createGrantStore } from '../db/grants.ts';
import { createPullRequestMergeStore } from '../db/worker/pull-request-merges.ts';
import { createWorkerPullRequestStore } from '../db/worker/pull-requests.ts';
import { createSiteIndexStore } from '../db/sites.ts';
import { createSiteIndexing } from '../db/worker/site-indexing.ts';
import { createEffectStore } from '../db/worker/effects.ts';
import { createStepStore } from '../db/worker/steps.ts';
import { createWebhookAttemptStore } from '../db/worker/webhook-attempts.ts';
import { createProjectCredentialReader, createProjectReader } from '../db/worker/projects.ts';
import { createWorkerStore } from '../db/worker/workers.ts';
import { createWebhookStarts } from '../db/worker/webhook-starts.ts';
import type { SecretBox } from '../encryption/secret-box.ts';

export type WorkerStores = ReturnType<typeof createWorkerStores>;

/** The stores that a worker process shares, under the names that its parts know them by. */
export function createWorkerStores({ pool, box }: { pool: Pool; box: SecretBox }) {
  return {
    jobs: createWorkerJobStore(pool),
    histories: createWorkerHistoryStore(pool),
    messages: createWorkerMessageStore(pool),
    branches: createJobBranchStore(pool),
    endings: createIdleEndings(pool),
    steps: createStepStore(pool),
    asked: createAskedSteps(pool),
    events: createWorkerEventStore(pool),
    effects: createEffectStore(pool),
    projects: createProjectReader(pool),
    credentials: createProjectCredentialReader(pool, box),
    pullRequests: createWorkerPullRequestStore(pool),
    grants: createGrantStore(pool),
    merges: createPullRequestMergeStore(pool),
    sites: createSiteIndexing(pool),
    indexes: createSiteIndexStore(pool),
    idleJobs: createIdleJobs(pool),
    deliveries: createWebhookStarts(pool),
    webhookAttempts: createWebhookAttemptStore(pool, box),
    context: createJobContextStore(pool),
    budgets: createBudgetStore(pool),
    retention: createRetentionStore(pool),
    workers: createWorkerStore(pool),
  };
}
