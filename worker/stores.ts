import { hostname } from 'node:os';
import type { Pool } from 'pg';
import { createModelCallLeases } from '../db/for-worker/model-call-leases.ts';
import { createModelFailureStore } from '../db/for-worker/model-failures.ts';
import { createRetentionStore } from '../db/for-worker/retention.ts';
import { createWorkerImageStore } from '../db/for-worker/job-images.ts';
import { createJobContextStore } from '../db/for-worker/job-context.ts';
import { createEnvironmentLayerStore } from '../db/for-worker/environment-layers.ts';
import { createProjectSecretReader } from '../db/for-worker/projects/project-secrets.ts';
import { createDueWorkStore } from '../db/for-worker/due-work.ts';
import { createIdleJobs } from '../db/for-worker/idle-jobs.ts';
import { createJobBranchStore } from '../db/for-worker/job-branches.ts';
import { createIdleEndings } from '../db/for-worker/idle-endings.ts';
import { createWorkerEventStore } from '../db/for-worker/job-events.ts';
import { createWorkerMessageStore } from '../db/for-worker/job-messages.ts';
import { createWorkerHistoryStore } from '../db/for-worker/job-histories.ts';
import { createWorkerJobStore } from '../db/for-worker/jobs.ts';
import { createGrantStore } from '../db/organizations/grants.ts';
import { createPullRequestMergeStore } from '../db/for-worker/pull-request-merges.ts';
import { createWorkerPullRequestStore } from '../db/for-worker/pull-requests.ts';
import { createSiteIndexStore } from '../db/sites/site-indexes.ts';
import { createSourceThreadStore } from '../db/sites/source-threads.ts';
import { createWebsitePageStore } from '../db/sites/website-pages.ts';
import { createSiteIndexing } from '../db/for-worker/site-indexing.ts';
import { createEffectStore } from '../db/for-worker/effects.ts';
import { createStepStore } from '../db/for-worker/steps.ts';
import { createWebhookAttemptStore } from '../db/for-worker/webhooks/webhook-attempts.ts';
import { createProjectCredentialReader, createProjectReader } from '../db/for-worker/projects/projects.ts';
import { createProjectGuidanceReader } from '../db/for-worker/projects/project-guidance.ts';
import { createProjectRepositoryWriter } from '../db/for-worker/projects/project-repository.ts';
import { createChoreClaims } from '../db/for-worker/chores.ts';
import { createProjectToolReader } from '../db/for-worker/projects/project-tools.ts';
import { createWorkerStore } from '../db/for-worker/workers.ts';
import { createWebhookStarts } from '../db/for-worker/webhooks/webhook-starts.ts';
import type { SecretBox } from '../lib/encryption/secret-box.ts';

export type WorkerStores = ReturnType<typeof createWorkerStores>;

/** Creates the stores that a worker process shares, under the names that its parts use. */
export function createWorkerStores({ pool, box }: { pool: Pool; box: SecretBox }) {
  return {
    jobs: createWorkerJobStore(pool),
    histories: createWorkerHistoryStore(pool),
    messages: createWorkerMessageStore(pool),
    branches: createJobBranchStore(pool),
    endings: createIdleEndings(pool),
    steps: createStepStore(pool, `${process.pid}@${hostname()}`),
    leases: createModelCallLeases(pool),
    modelFailures: createModelFailureStore(pool),
    events: createWorkerEventStore(pool),
    effects: createEffectStore(pool),
    projects: createProjectReader(pool),
    guidance: createProjectGuidanceReader(pool),
    repositoryNames: createProjectRepositoryWriter(pool),
    toolServers: createProjectToolReader(pool, box),
    credentials: createProjectCredentialReader(pool, box),
    pullRequests: createWorkerPullRequestStore(pool),
    grants: createGrantStore(pool),
    merges: createPullRequestMergeStore(pool),
    sites: createSiteIndexing(pool),
    indexes: createSiteIndexStore(pool),
    sourceThreads: createSourceThreadStore(pool),
    websitePages: createWebsitePageStore(pool),
    idleJobs: createIdleJobs(pool),
    deliveries: createWebhookStarts(pool),
    webhookAttempts: createWebhookAttemptStore(pool, box),
    context: createJobContextStore(pool),
    images: createWorkerImageStore(pool),
    retention: createRetentionStore(pool),
    layers: createEnvironmentLayerStore(pool),
    projectSecrets: createProjectSecretReader(pool, box),
    dueWork: createDueWorkStore(pool),
    chores: createChoreClaims(pool),
    workers: createWorkerStore(pool),
  };
}
