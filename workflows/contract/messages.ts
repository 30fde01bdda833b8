/** Names shared by the API, the worker and Temporal. */
export const jobWorkflowName = 'jobWorkflow';
export const indexSiteWorkflowName = 'indexSite';
export const refreshSiteWorkflowName = 'refreshSite';
export const archiveJobsWorkflowName = 'archiveJobs';
export const deliverWebhookWorkflowName = 'deliverWebhook';
export const archiveJobsScheduleId = 'archive-jobs';

/** Task queue of all workflows and of job activities. */
export const jobTaskQueue = 'docket-jobs';

/**
 * Returns the task queue of site indexing activities, separate so that they and job activities never wait for each
 * other.
 */
export function siteActivityQueue(workflowQueue: string): string {
  return `${workflowQueue}/sites`;
}

/** Returns the task queue of webhook activities, separate so that a slow receiver does not delay jobs. */
export function webhookActivityQueue(workflowQueue: string): string {
  return `${workflowQueue}/webhooks`;
}

/** Worker Versioning deployment name of the workers; covers all task queues. */
export const workerDeploymentName = 'docket-worker';

/**
 * Returns the workflow id of a turn. Each turn is one execution, so a failed turn is a failed execution with its own
 * history.
 */
export function jobWorkflowId(jobId: string, turn: number): string {
  return turn === 1 ? `agent-job/${jobId}` : `agent-job/${jobId}/turn-${turn}`;
}

export function indexSiteWorkflowId(siteId: string): string {
  return `index-site/${siteId}`;
}

export function refreshSiteScheduleId(siteId: string): string {
  return `refresh-site/${siteId}`;
}

/** Returns the workflow id of a delivery round. Each round is one execution. */
export function deliverWebhookWorkflowId(of: { webhookId: string; messageId: string; round: number }): string {
  const first = `webhook/${of.webhookId}/${of.messageId}`;
  return of.round === 1 ? first : `${first}/round-${of.round}`;
}

/** Returns the site that a schedule refreshes, or null for any other schedule. */
export function siteOfSchedule(scheduleId: string): string | null {
  return /^refresh-site\/(.+)$/.exec(scheduleId)?.[1] ?? null;
}
