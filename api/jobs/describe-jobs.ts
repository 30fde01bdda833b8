import { jobStatusSchema } from '../../workflows/contract/job.ts';
import { agentJobSchema } from '../../db/jobs/agent-job.ts';
import { createJobSchema, jobEventPageSchema, jobListSchema } from './job-schemas.ts';
import { errorResponses, jsonResponse, schemaOf } from '../openapi/openapi.ts';
import type { PathItem } from '../openapi/openapi.ts';

/** An admin key, or a session of the dashboard. */
export const security = [{ adminKey: [] }, { session: [] }];
export const projectId = {
  name: 'projectId',
  in: 'path',
  required: true,
  schema: { type: 'string' },
  description: 'The project identifier.',
};
export const jobId = {
  name: 'id',
  in: 'path',
  required: true,
  schema: { type: 'string' },
  description: 'Unique identifier of the agent job.',
};

/** The header of requests that may be repeated; `description` says what a repetition does. */
export function idempotencyKey(description: string) {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    description,
  };
}

/** OpenAPI paths of agent jobs. */
export function describeJobs(): Record<string, PathItem> {
  const job = schemaOf(agentJobSchema);
  return {
    '/v2/agent/{projectId}/job': {
      post: {
        operationId: 'createAgentJob',
        summary: 'Create an agent job',
        security,
        parameters: [
          projectId,
          idempotencyKey('A repetition with the same key and body answers the first job with 200.'),
        ],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: schemaOf(createJobSchema, 'input') } },
        },
        responses: {
          201: jsonResponse('The job, which is now active.', job),
          200: jsonResponse('The job that the same request created before (Idempotent-Replay: true).', job),
          ...errorResponses(400, 401, 403, 404, 409, 413, 415, 429, 503),
        },
      },
    },
    '/v2/agent/{projectId}/job/{id}': {
      get: {
        operationId: 'getAgentJob',
        summary: 'Get an agent job; poll it until status is completed, archived or failed',
        security,
        parameters: [projectId, jobId],
        responses: { 200: jsonResponse('The job.', job), ...errorResponses(401, 403, 404, 429, 503) },
      },
      delete: {
        operationId: 'deleteAgentJob',
        summary: 'Delete an agent job for good, with all that is kept of it',
        description:
          'An active job is stopped first. What it has put on the forge stays there, but for pull requests of the local forge. Forks of the job stay.',
        security,
        parameters: [projectId, jobId],
        responses: { 204: { description: 'It is gone.' }, ...errorResponses(401, 403, 404, 429, 503) },
      },
    },
    '/v2/agent/{projectId}/jobs': {
      get: {
        operationId: 'listAgentJobs',
        summary: 'List the agent jobs of a project, newest first',
        security,
        parameters: [
          projectId,
          { name: 'status', in: 'query', schema: schemaOf(jobStatusSchema) },
          { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 } },
          { name: 'cursor', in: 'query', schema: { type: 'string' }, description: 'nextCursor of the page before.' },
        ],
        responses: {
          200: jsonResponse('A page of jobs.', schemaOf(jobListSchema)),
          ...errorResponses(400, 401, 403, 404, 429, 503),
        },
      },
    },
    '/v2/agent/{projectId}/job/{id}/events': {
      get: {
        operationId: 'getAgentJobEvents',
        summary: 'What happened to the job so far, and, as a stream, what happens to it now',
        security,
        parameters: [
          projectId,
          jobId,
          {
            name: 'after',
            in: 'query',
            schema: { type: 'integer', minimum: 0, default: 0 },
            description: 'The last event known.',
          },
          {
            name: 'limit',
            in: 'query',
            schema: { type: 'integer', minimum: 1, maximum: 500, default: 100 },
            description: 'Of a page.',
          },
          {
            name: 'Last-Event-ID',
            in: 'header',
            schema: { type: 'string' },
            description: 'Goes on behind this event of the stream.',
          },
        ],
        responses: {
          200: {
            description:
              'A page; or, with Accept: text/event-stream, each event as {id: seq, event: type, data: the event as JSON} until the job has ended.',
            content: {
              'application/json': { schema: schemaOf(jobEventPageSchema) },
              'text/event-stream': { schema: { type: 'string' } },
            },
          },
          204: { description: 'A stream that was taken up again has nothing to add: the job has ended.' },
          ...errorResponses(400, 401, 403, 404, 429, 503),
        },
      },
    },
  };
}
