import { security } from '../jobs/describe-jobs.ts';
import { errorResponses, jsonResponse, schemaOf } from '../openapi/openapi.ts';
import type { PathItem } from '../openapi/openapi.ts';
import { pullRequestSchema } from './pull-request-schemas.ts';

/** OpenAPI paths of the local forge. */
export function describePullRequests(): Record<string, PathItem> {
  const schema = schemaOf(pullRequestSchema);
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }];
  const action = (operationId: string, summary: string, status: 200 | 202) => ({
    post: {
      operationId,
      summary,
      security,
      parameters,
      responses: {
        [status]: jsonResponse('The pull request.', schema),
        ...errorResponses(401, 403, 404, 409, 429, 503),
      },
    },
  });
  return {
    '/v1/pull-requests/{id}': {
      get: {
        operationId: 'getPullRequest',
        summary: 'A pull request of the local forge',
        security,
        parameters,
        responses: {
          200: jsonResponse('The pull request.', schema),
          ...errorResponses(401, 403, 404, 429, 503),
        },
      },
    },
    '/v1/pull-requests/{id}/diff': {
      get: {
        operationId: 'getPullRequestDiff',
        summary: 'What it changes, as a patch',
        security,
        parameters,
        responses: {
          200: { description: 'The patch.', content: { 'text/x-diff': { schema: { type: 'string' } } } },
          ...errorResponses(401, 403, 404, 429, 503),
        },
      },
    },
    '/v1/pull-requests/{id}/merge': action(
      'mergePullRequest',
      'Have a worker merge it: merge.isMerging until it is merged, or merge.problem says why not',
      202,
    ),
    '/v1/pull-requests/{id}/close': action('closePullRequest', 'Close it without merging', 200),
    '/v1/pull-requests/{id}/ready': action('readyPullRequest', 'A draft is no draft any more', 200),
  };
}
