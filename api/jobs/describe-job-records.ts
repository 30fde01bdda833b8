import { idempotencyKey, jobId, projectId, security } from './describe-jobs.ts';
import { agentJobSchema } from '../../db/jobs/agent-job.ts';
import { forkJobSchema } from './job-schemas.ts';
import { errorResponses, jsonResponse, schemaOf } from '../openapi/openapi.ts';
import type { PathItem } from '../openapi/openapi.ts';

/** OpenAPI paths of what is kept of an agent job. */
export function describeJobRecords(): Record<string, PathItem> {
  const job = schemaOf(agentJobSchema);
  const counted = { type: 'integer', minimum: 1 };
  return {
    '/v2/agent/{projectId}/job/{id}/history': {
      get: {
        operationId: 'getAgentJobHistory',
        summary: "The engine's history of a turn that has ended, as Temporal's tools and replayers read it",
        description:
          'It is kept within seconds of the end of the turn, and outlives the record of the engine. Before that: 409. A turn with a long history has several runs; Link names the one before and after.',
        security,
        parameters: [
          projectId,
          jobId,
          { name: 'turn', in: 'query', schema: counted, description: 'Without it the newest turn.' },
          { name: 'run', in: 'query', schema: counted, description: 'Without it the last run of the turn.' },
        ],
        responses: {
          200: {
            description: 'The history: {"events": […]}.',
            content: { 'application/json': { schema: { type: 'object' } } },
          },
          ...errorResponses(400, 401, 403, 404, 409, 429, 503),
        },
      },
    },
    '/v2/agent/{projectId}/job/{id}/fork': {
      post: {
        operationId: 'forkAgentJob',
        summary: 'Create a job that goes on from a step of this one',
        description:
          'The new job takes over the conversation and the working copy up to and with the step, and goes on with the next one, on a branch and pull request of its own. It counts as a new job.',
        security,
        parameters: [
          projectId,
          jobId,
          idempotencyKey('A repetition with the same key and body answers the first job with 200.'),
        ],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: schemaOf(forkJobSchema, 'input') } },
        },
        responses: {
          201: jsonResponse('The new job, which is active.', job),
          200: jsonResponse('The job that the same request created before (Idempotent-Replay: true).', job),
          ...errorResponses(400, 401, 403, 404, 409, 413, 415, 429, 503),
        },
      },
    },
    '/v2/agent/{projectId}/job/{id}/bundle': {
      get: {
        operationId: 'getAgentJobBundle',
        summary: 'Everything that is kept of the job, in one file',
        description:
          'Turns, messages, steps with answers and results, snapshots, effects and histories, as gzip of JSON lines: "docket job replay FILE" tells the job from it on any machine. It holds what the model read and wrote, and no key.',
        security,
        parameters: [projectId, jobId],
        responses: {
          200: {
            description: 'The bundle. One that was cut off is refused by its reader.',
            content: { 'application/gzip': { schema: { type: 'string', format: 'binary' } } },
          },
          ...errorResponses(401, 403, 404, 429, 503),
        },
      },
    },
  };
}
