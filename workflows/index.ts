export { archiveJobs } from './archive-workflow.ts';
export { jobWorkflow } from './job-workflow.ts';
export { indexSite, refreshSite } from './site-workflow.ts';
export { deliverWebhook } from './webhook-workflow.ts';
