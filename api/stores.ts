import type { Pool } from 'pg';
import { createAnswerSpendingStore } from '../db/sites/answer-spending.ts';
import { createAuditStore } from '../db/organizations/audit.ts';
import { createConversationStore } from '../db/sites/conversations.ts';
import { createEvaluationStore } from '../db/sites/evaluations.ts';
import { createQuestionSetStore } from '../db/sites/question-sets.ts';
import { createEmptySearchStore } from '../db/sites/empty-searches.ts';
import { createErasure } from '../db/organizations/erasure.ts';
import { createGapStore } from '../db/sites/gaps.ts';
import { createGrantStore } from '../db/organizations/grants.ts';
import { createJobEndings } from '../db/jobs/job-endings.ts';
import { createJobEventStore } from '../db/jobs/job-events.ts';
import { createJobForkStore } from '../db/jobs/job-forks.ts';
import { createJobListStore } from '../db/jobs/job-lists.ts';
import { createJobCountStore } from '../db/jobs/job-states.ts';
import { createJobMessageStore } from '../db/jobs/job-messages.ts';
import { createJobPlanStore } from '../db/jobs/job-plans.ts';
import { createJobHistoryStore } from '../db/jobs/job-histories.ts';
import { createJobBundleStore } from '../db/jobs/job-bundle.ts';
import { createJobImageStore } from '../db/jobs/job-images.ts';
import { createJobTimelineStore } from '../db/jobs/job-timeline.ts';
import { createJobStore } from '../db/jobs/jobs.ts';
import { createKeyStore } from '../db/organizations/keys.ts';
import { createCancelStore, createOutboxStore } from '../db/jobs/outbox.ts';
import { createOperatorView } from '../db/operations/operator-view.ts';
import { createOperationsStore } from '../db/operations/operations.ts';
import { createOrganizationStore } from '../db/organizations/organizations.ts';
import { createProjectGuidanceStore } from '../db/organizations/project-guidance.ts';
import { createProjectRepositoryStore } from '../db/organizations/project-repository.ts';
import { createSetupSecretStore } from '../db/organizations/setup-secrets.ts';
import { createProjectToolStore } from '../db/organizations/project-tools.ts';
import { createProjectStore } from '../db/organizations/projects.ts';
import { createPullRequestListStore } from '../db/pull-requests/pull-request-lists.ts';
import { createPullRequestStore } from '../db/pull-requests/pull-requests.ts';
import { createRateLimitStore } from '../db/operations/rate-limits.ts';
import { createReplyStore } from '../db/sites/replies.ts';
import { createServiceFigureStore } from '../db/operations/service-figures.ts';
import { createSessionStore } from '../db/organizations/sessions.ts';
import { createSiteAnalyticsStore } from '../db/sites/site-analytics.ts';
import { createSiteStore } from '../db/sites/sites.ts';
import { createThreadStore } from '../db/sites/threads.ts';
import { createUsageStore } from '../db/organizations/usage.ts';
import { createWebhookDeliveryStore } from '../db/webhooks/webhook-deliveries.ts';
import { createWebhookStore } from '../db/webhooks/webhook-endpoints.ts';
import { createSecretBox } from '../lib/encryption/secret-box.ts';
import type { OwnedStore } from '../db/caller.ts';
import type { ApiConfig } from './config.ts';
import { createSiteIndexStore } from '../db/sites/site-indexes.ts';

export type ApiStores = ReturnType<typeof createApiStores>;

/** Compiles only if the first parameter of every store method is the organization, as an Owner or a Caller. */
function owned<Stores extends { [Name in keyof Stores]: OwnedStore<Stores[Name]> }>(stores: Stores): Stores {
  return stores;
}

/** Creates the stores that the routes of an API process share. */
export function createApiStores({
  pool,
  config,
}: {
  pool: Pool;
  config: Pick<ApiConfig, 'keyPepper' | 'encryptionKeys' | 'operatorOrganizations'>;
}) {
  return {
    ...owned({
      jobs: createJobStore(pool),
      histories: createJobHistoryStore(pool),
      bundles: createJobBundleStore(pool),
      timeline: createJobTimelineStore(pool),
      images: createJobImageStore(pool),
      forks: createJobForkStore(pool),
      messages: createJobMessageStore(pool),
      plans: createJobPlanStore(pool),
      endings: createJobEndings(pool),
      erasure: createErasure(pool),
      events: createJobEventStore(pool),
      organizations: createOrganizationStore(pool),
      projects: createProjectStore(pool, createSecretBox(config.encryptionKeys)),
      guidance: createProjectGuidanceStore(pool),
      repositoryNames: createProjectRepositoryStore(pool),
      setupSecrets: createSetupSecretStore(pool, createSecretBox(config.encryptionKeys)),
      tools: createProjectToolStore(pool, createSecretBox(config.encryptionKeys)),
      pullRequests: createPullRequestStore(pool),
      pullRequestLists: createPullRequestListStore(pool),
      keys: createKeyStore(pool, config.keyPepper),
      sessions: createSessionStore(pool, config.keyPepper),
      audit: createAuditStore(pool),
      sites: createSiteStore(pool),
      indexes: createSiteIndexStore(pool),
      threads: createThreadStore(pool),
      answerSpending: createAnswerSpendingStore(pool),
      conversations: createConversationStore(pool),
      emptySearches: createEmptySearchStore(pool),
      gaps: createGapStore(pool),
      analytics: createSiteAnalyticsStore(pool),
      questionSets: createQuestionSetStore(pool),
      evaluations: createEvaluationStore(pool),
      grants: createGrantStore(pool),
      webhooks: createWebhookStore(pool, createSecretBox(config.encryptionKeys)),
      deliveries: createWebhookDeliveryStore(pool),
      operations: createOperationsStore(pool),
      operatorView: createOperatorView(pool, config.operatorOrganizations),
    }),
    // these count and deliver for all organizations, or identify what they write by an id that no client chooses
    lists: createJobListStore(pool),
    jobCounts: createJobCountStore(pool),
    outbox: createOutboxStore(pool),
    cancels: createCancelStore(pool),
    rateLimits: createRateLimitStore(pool),
    replies: createReplyStore(pool),
    usage: createUsageStore(pool),
    figures: createServiceFigureStore(pool),
  };
}
