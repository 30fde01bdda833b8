import { jobId, projectId, security } from './describe-jobs.ts';
import { stepListSchema, stepSchema, turnListSchema } from './job-story-schemas.ts';
import { errorResponses, jsonResponse, queryParameter, schemaOf } from '../openapi/openapi.ts';
import type { PathItem } from '../openapi/openapi.ts';

/** OpenAPI paths of what happened in an agent job. */
export function describeJobStory(): Record<string, PathItem> {
  const counted = { type: 'integer', minimum: 1 };
  const inPath = (name: string) => ({ name, in: 'path', required: true, schema: counted });
  return {
    '/v2/agent/{projectId}/job/{id}/turns': {
      get: {
        operationId: 'listAgentJobTurns',
        summary: 'What was asked of the job: the prompt of each turn, and the messages while it was under way',
        security,
        parameters: [
          projectId,
          jobId,
          queryParameter('after', { type: 'integer', minimum: 0, default: 0 }, 'nextAfter of the page before.'),
          queryParameter('limit', { type: 'integer', minimum: 1, maximum: 100, default: 100 }),
        ],
        responses: {
          200: jsonResponse('A page of turns, in order.', schemaOf(turnListSchema)),
          ...errorResponses(400, 401, 403, 404, 429, 503),
        },
      },
    },
    '/v2/agent/{projectId}/job/{id}/steps': {
      get: {
        operationId: 'listAgentJobSteps',
        summary: 'What the agent did: its words, its tool calls and what they came to, step by step',
        security,
        parameters: [
          projectId,
          jobId,
          {
            name: 'after',
            in: 'query',
            schema: { type: 'string' },
            description: 'nextAfter of the page before, or a turn and a step such as 1.20.',
          },
          { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 } },
        ],
        responses: {
          200: jsonResponse(
            'A page of steps; of long words, inputs and outputs the beginning. A page ends early, at about 2 MB.',
            schemaOf(stepListSchema),
          ),
          ...errorResponses(400, 401, 403, 404, 429, 503),
        },
      },
    },
    '/v2/agent/{projectId}/job/{id}/steps/{turn}/{step}': {
      get: {
        operationId: 'getAgentJobStep',
        summary: 'One step, with the whole outputs of its tools',
        security,
        parameters: [projectId, jobId, inPath('turn'), inPath('step')],
        responses: {
          200: jsonResponse('The step.', schemaOf(stepSchema)),
          ...errorResponses(401, 403, 404, 429, 503),
        },
      },
    },
    '/v2/agent/{projectId}/job/{id}/steps/{turn}/{step}/diff': {
      get: {
        operationId: 'getAgentJobStepDiff',
        summary: 'What one step has changed itself, as a patch; empty when nothing, or while it has not ended',
        description:
          'From the files before the step to those after it. Of binary files it says only that they differ; GET …/diff has their content.',
        security,
        parameters: [projectId, jobId, inPath('turn'), inPath('step')],
        responses: {
          200: { description: 'The patch.', content: { 'text/x-diff': { schema: { type: 'string' } } } },
          ...errorResponses(401, 403, 404, 409, 429, 503),
        },
      },
    },
    '/v2/agent/{projectId}/job/{id}/diff': {
      get: {
        operationId: 'getAgentJobDiff',
        summary: 'What the job has changed so far, as a patch; empty when nothing',
        description: 'With turn and step: as it stood behind that step.',
        security,
        parameters: [
          projectId,
          jobId,
          { name: 'turn', in: 'query', schema: counted },
          { name: 'step', in: 'query', schema: counted },
        ],
        responses: {
          200: { description: 'The patch.', content: { 'text/x-diff': { schema: { type: 'string' } } } },
          ...errorResponses(400, 401, 403, 404, 409, 429, 503),
        },
      },
    },
  };
}
