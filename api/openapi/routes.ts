import { challengeRoutes } from '../access/routes-challenge.ts';
import { keyRoutes } from '../administration/routes-keys.ts';
import { operationsRoutes } from '../administration/routes-operations.ts';
import { projectSecretRoutes } from '../administration/routes-project-secrets.ts';
import { guidanceRoutes } from '../administration/routes-guidance.ts';
import { mcpServerRoutes } from '../administration/routes-mcp-servers.ts';
import { projectRoutes } from '../administration/routes-projects.ts';
import { sessionRoutes } from '../administration/routes-session.ts';
import { systemRoutes } from '../administration/routes-system.ts';
import { evaluationRoutes } from '../evaluations/routes.ts';
import { analyticsRoutes } from '../analytics/routes.ts';
import { assistantRoutes } from '../assistant/routes.ts';
import { jobActionRoutes } from '../jobs/routes-job-actions.ts';
import { jobEventRoutes } from '../jobs/routes-job-events.ts';
import { jobPlanRoutes } from '../jobs/routes-job-plans.ts';
import { jobForkRoutes } from '../jobs/routes-job-forks.ts';
import { jobListRoutes } from '../jobs/routes-job-lists.ts';
import { jobExportRoutes } from '../jobs/routes-job-exports.ts';
import { jobTimelineRoutes } from '../jobs/routes-job-timeline.ts';
import { jobRoutes } from '../jobs/routes-jobs.ts';
import { mcpRoutes } from '../mcp/routes.ts';
import { pullRequestListRoutes } from '../pull-requests/routes-lists.ts';
import { pullRequestRoutes } from '../pull-requests/routes.ts';
import { documentRoutes } from '../sites/routes-documents.ts';
import { feedbackRoutes } from '../sites/routes-feedback.ts';
import { gapRoutes } from '../sites/routes-gaps.ts';
import { searchRoutes } from '../sites/routes-search.ts';
import { siteRoutes } from '../sites/routes-sites.ts';
import { threadRoutes } from '../sites/routes-threads.ts';
import { webhookRoutes } from '../webhooks/routes.ts';

/** Endpoints of the HTTP API by operation id, in the order of the OpenAPI document. */
export const routes = {
  ...jobRoutes,
  ...jobEventRoutes,
  ...jobListRoutes,
  ...jobActionRoutes,
  ...jobPlanRoutes,
  ...jobForkRoutes,
  ...jobExportRoutes,
  ...jobTimelineRoutes,
  ...pullRequestListRoutes,
  ...pullRequestRoutes,
  ...assistantRoutes,
  ...challengeRoutes,
  ...searchRoutes,
  ...documentRoutes,
  ...threadRoutes,
  ...feedbackRoutes,
  ...mcpRoutes,
  ...gapRoutes,
  ...analyticsRoutes,
  ...evaluationRoutes,
  ...sessionRoutes,
  ...projectRoutes,
  ...guidanceRoutes,
  ...projectSecretRoutes,
  ...mcpServerRoutes,
  ...siteRoutes,
  ...keyRoutes,
  ...operationsRoutes,
  ...webhookRoutes,
  ...systemRoutes,
};
