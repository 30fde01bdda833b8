import { idempotencyKey, jobId, projectId, security } from './describe-jobs.ts';
import { agentJobSchema } from '../../db/jobs/agent-job.ts';
import { jobMessageSchema } from './job-schemas.ts';
import { errorResponses, jsonResponse, schemaOf } from '../openapi/openapi.ts';
import type { PathItem } from '../openapi/openapi.ts';

/** OpenAPI paths of what a person does with an agent job. */
export function describeJobActions(): Record<string, PathItem> {
  const job = schemaOf(agentJobSchema);
  return {
    '/v2/agent/{projectId}/job/{id}/message': {
      post: {
        operationId: 'sendAgentJobMessage',
        summary: 'Say more to an agent job',
        description:
          'While the job is active, the agent reads the message before its next call of the model. After the end, the job becomes active again and goes on with what it has done, on the same branch and pull request; where that was closed or merged it opens a new one.',
        security,
        parameters: [
          projectId,
          jobId,
          idempotencyKey('A repetition with the same key and body sends nothing again (Idempotent-Replay: true).'),
        ],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: schemaOf(jobMessageSchema, 'input') } },
        },
        responses: {
          200: jsonResponse('The job, which is active.', job),
          ...errorResponses(400, 401, 403, 404, 409, 413, 415, 429, 503),
        },
      },
    },
    '/v2/agent/{projectId}/job/{id}/cancel': {
      post: {
        operationId: 'cancelAgentJob',
        summary: 'Cancel an agent job',
        description:
          'An active job is failed at once, with the category cancelled, and publishes nothing any more. A job that has ended is answered as it is; an archived one is refused.',
        security,
        parameters: [projectId, jobId],
        responses: { 200: jsonResponse('The job.', job), ...errorResponses(401, 403, 404, 409, 429, 503) },
      },
    },
    '/v2/agent/{projectId}/job/{id}/archive': {
      post: {
        operationId: 'archiveAgentJob',
        summary: 'Archive an agent job',
        description:
          'A completed or failed job is archived for good; an active one is refused. Jobs that ended 30 days ago are archived by themselves.',
        security,
        parameters: [projectId, jobId],
        responses: { 200: jsonResponse('The job.', job), ...errorResponses(401, 403, 404, 409, 429, 503) },
      },
    },
  };
}
