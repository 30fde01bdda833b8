import { agentJobSchema } from '../../db/jobs/agent-job.ts';
import { security } from '../jobs/describe-jobs.ts';
import {
  conversationPageSchema,
  emptySearchesSchema,
  feedbackSchema,
  gapJobSchema,
  gapListSchema,
  gapSchema,
} from './gap-schemas.ts';
import {
  errorResponses,
  jsonBody,
  jsonResponse,
  pageParameters,
  pathParameter,
  queryParameter,
  schemaOf,
} from '../openapi/openapi.ts';
import type { PathItem } from '../openapi/openapi.ts';

const domain = pathParameter('domain', 'The domain identifier of the site.');
const gapId = pathParameter('id', 'The id of the gap.');
const reads = errorResponses(400, 401, 403, 404, 429, 503);
const writes = errorResponses(400, 401, 403, 404, 409, 413, 415, 429, 503);

/** OpenAPI paths of what readers say, ask in vain and do not find. */
export function describeGaps(): Record<string, PathItem> {
  const feedback = {
    summary: 'Say what an answer of the assistant was worth',
    description: 'What was said of the same answer before is replaced.',
    security: [{ assistantKey: [] }, { session: [] }],
    parameters: [domain],
    requestBody: jsonBody(schemaOf(feedbackSchema, 'input')),
    responses: {
      200: jsonResponse('What was said.', schemaOf(feedbackSchema)),
      ...errorResponses(400, 401, 403, 404, 413, 415, 429, 503),
    },
  };
  return {
    '/discovery/v1/assistant/{domain}/feedback': { post: { operationId: 'rateAnswerV1', ...feedback } },
    '/discovery/v2/assistant/{domain}/feedback': { post: { operationId: 'rateAnswer', ...feedback } },
    '/v1/sites/{domain}/conversations': {
      get: {
        operationId: 'listConversations',
        summary: 'List the conversations of a site, newest first',
        security,
        parameters: [
          domain,
          queryParameter('answered', { type: 'boolean' }, 'Whether every question was answered.'),
          queryParameter('vote', { enum: ['up', 'down'] }, 'With such a vote on an answer.'),
          queryParameter('q', { type: 'string', maxLength: 200 }, 'In what was said.'),
          ...pageParameters,
        ],
        responses: { 200: jsonResponse('A page of conversations.', schemaOf(conversationPageSchema)), ...reads },
      },
    },
    '/v1/sites/{domain}/searches': {
      get: {
        operationId: 'listEmptySearches',
        summary: 'What readers searched and did not find, the most frequent first',
        security,
        parameters: [domain, queryParameter('days', { type: 'integer', minimum: 1, maximum: 365, default: 30 })],
        responses: { 200: jsonResponse('Up to 200 searches.', schemaOf(emptySearchesSchema)), ...reads },
      },
    },
    '/v1/sites/{domain}/gaps': {
      get: {
        operationId: 'listGaps',
        summary: 'Questions of the last 90 days that the documentation did not answer, put together by their words',
        security,
        parameters: [domain],
        responses: { 200: jsonResponse('All of them.', schemaOf(gapListSchema)), ...reads },
      },
    },
    '/v1/sites/{domain}/gaps/{id}/job': {
      post: {
        operationId: 'createGapJob',
        summary: 'Make a job that answers the questions of a gap in the documentation',
        description:
          'When its pull request is merged, the site is indexed and the questions are asked again. While a job is under way, it is answered with 200.',
        security,
        parameters: [domain, gapId],
        requestBody: { ...jsonBody(schemaOf(gapJobSchema, 'input')), required: false },
        responses: {
          200: jsonResponse(
            'The job that is under way, or the one whose change has answered them.',
            schemaOf(agentJobSchema),
          ),
          201: jsonResponse('The job, which is now active.', schemaOf(agentJobSchema)),
          ...writes,
        },
      },
    },
    '/v1/sites/{domain}/gaps/{id}/check': {
      post: {
        operationId: 'checkGap',
        summary: 'Index the site and ask the questions of a gap again now',
        security,
        parameters: [domain, gapId],
        responses: { 202: jsonResponse('The gap.', schemaOf(gapSchema)), ...reads },
      },
    },
  };
}
