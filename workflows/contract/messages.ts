/** Names that the API, the worker and Temporal agree on. */
export const jobWorkflowName = 'jobWorkflow';
export const indexSiteWorkflowName = 'indexSite';
export const refreshSiteWorkflowName = 'refreshSite';
export const archiveJobsWorkflowName = 'archiveJobs';
export const deliverWebhookWorkflowName = 'deliverWebhook';
export const archiveJobsScheduleId = 'archive-jobs';

/** The queue of all workflows and of the activities of jobs. */
export const jobTaskQueue = 'docket-jobs';

/** Returns the queue of the activities that index sites: neither they nor those of jobs wait for the other. */
export function siteActivityQueue(workflowQueue: string): string {
  return `${workflowQueue}/sites`;
}

/** Returns the queue of the activities that deliver webhooks: a slow receiver holds up no job. */
export function webhookActivityQueue(workflowQueue: string): string {
  return `${workflowQueue}/webhooks`;
}

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
