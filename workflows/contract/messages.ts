/** Names that the API, the worker and Temporal agree on. */
export const jobWorkflowName = 'jobWorkflow';
export const indexSiteWorkflowName = 'indexSite';
export const refreshSiteWorkflowName = 'refreshSite';
export const archiveJobsWorkflowName = 'archiveJobs';
export const deliverWebhookWorkflowName = 'deliverWebhook';
export const archiveJobsScheduleId = 'archive-jobs';

/** The queue of workflow tasks and of activities any worker may run. */
export const jobTaskQueue = 'docket-jobs';
/** The queue of site indexing, apart from jobs so that neither waits for the other. */
export const siteTaskQueue = 'docket-sites';

/** The queue of webhook deliveries, so that receivers which dawdle hold up no job. */
export const webhookTaskQueue = 'docket-webhooks';

/** What Worker Versioning knows the workers by; all queues belong to it. */
export const workerDeploymentName = 'docket-worker';

/** One execution per turn: a failed turn is a failed execution whose history is the story of one prompt. */
export function jobWorkflowId(jobId: string, turn: number): string {
  return turn === 1 ? `agent-job/${jobId}` : `agent-job/${jobId}/turn-${turn}`;
}

export function indexSiteWorkflowId(siteId: string): string {
  return `index-site/${siteId}`;
}

export function refreshSiteScheduleId(siteId: string): string {
  return `refresh-site/${siteId}`;
}

/** One execution for each round of a delivery. */
export function deliverWebhookWorkflowId(of: { webhookId: string; messageId: string; round: number }): string {
  const first = `webhook/${of.webhookId}/${of.messageId}`;
  return of.round === 1 ? first : `${first}/round-${of.round}`;
}

/** The site that a schedule refreshes; null for any other schedule. */
export function siteOfSchedule(scheduleId: string): string | null {
  return /^refresh-site\/(.+)$/.exec(scheduleId)?.[1] ?? null;
}
