export { jobWorkflow } from './job-workflow.ts';
