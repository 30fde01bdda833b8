import { jobStatusSchema } from '../../workflows/contract/job.ts';
import { security } from './describe-jobs.ts';
import { listedJobsSchema } from './job-list-schemas.ts';
import { errorResponses, jsonResponse, pageParameters, queryParameter, schemaOf } from '../openapi/openapi.ts';
import type { PathItem } from '../openapi/openapi.ts';

const project = queryParameter('project', { type: 'string' }, 'Only the jobs of this project.');

/** OpenAPI paths of the jobs of an organization. */
export function describeJobLists(): Record<string, PathItem> {
  return {
    '/v1/jobs': {
      get: {
        operationId: 'listJobs',
        summary: 'List the jobs of the organization, newest first',
        security,
        parameters: [
          queryParameter(
            'status',
            { type: 'array', items: schemaOf(jobStatusSchema) },
            'Any of these, repeated or with commas.',
          ),
          project,
          queryParameter('q', { type: 'string', maxLength: 200 }, 'In title, prompt, repository or branch; or the id.'),
          ...pageParameters,
        ],
        responses: {
          200: jsonResponse('A page of jobs.', schemaOf(listedJobsSchema)),
          ...errorResponses(400, 401, 403, 429, 503),
        },
      },
    },
    '/v1/jobs/events': {
      get: {
        operationId: 'followJobs',
        summary: 'Follow the jobs of the organization',
        description:
          'A stream of {id, event: job, data: a job as the list has it} for each job that is made or changes; the newest state counts. It never ends by itself. A list that is asked for after the first event (start) misses nothing.',
        security,
        parameters: [
          project,
          {
            name: 'Last-Event-ID',
            in: 'header',
            schema: { type: 'string' },
            description: 'Goes on where a stream was cut; a job may come again.',
          },
        ],
        responses: {
          200: { description: 'The stream.', content: { 'text/event-stream': { schema: { type: 'string' } } } },
          ...errorResponses(400, 401, 403, 429, 503),
        },
      },
    },
  };
}
