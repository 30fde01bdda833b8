import { messageBodySchema } from './message-request.ts';
import { errorResponses, jsonResponse, queryParameter, schemaOf } from '../openapi/openapi.ts';
import type { PathItem } from '../openapi/openapi.ts';
import { mostPassages, pageBodySchema, searchBodySchema } from '../sites/routes-search.ts';
import { threadSchema } from '../sites/thread-schemas.ts';

const security = [{ assistantKey: [] }, { session: [] }];
const domain = pathParameter('domain', 'The domain identifier of the documentation site.');
const threadHeader = {
  'X-Thread-Id': { schema: { type: 'string' }, description: 'The conversation; send it as threadId to go on.' },
};
const resumeHeader = {
  'X-Resume-Token': {
    schema: { type: 'string' },
    description: 'With resumable: true, the secret that resumes this reply; it is given once, to its reader.',
  },
};

/** OpenAPI paths of the assistant, search and conversations. */
export function describeAssistant(): Record<string, PathItem> {
  return {
    ...messagePaths('v1', 'text/plain', 'AI SDK v4 (data stream protocol)'),
    ...messagePaths('v2', 'text/event-stream', 'AI SDK v5 or higher (UI message stream)'),
    '/discovery/v1/search/{domain}': {
      post: {
        operationId: 'searchDocumentation',
        summary: 'Search a documentation site',
        security,
        parameters: [domain],
        requestBody: bodyOf(schemaOf(searchBodySchema, 'input')),
        responses: {
          200: jsonResponse('The best passages.', {
            type: 'array',
            maxItems: mostPassages,
            items: objectOf({ content: 'string', path: 'string', metadata: 'object' }),
          }),
          ...errorResponses(400, 401, 403, 404, 413, 415, 429, 503),
        },
      },
    },
    '/discovery/v1/page/{domain}': {
      post: {
        operationId: 'getDocumentationPage',
        summary: 'The Markdown of one page',
        security,
        parameters: [domain],
        requestBody: bodyOf(schemaOf(pageBodySchema, 'input')),
        responses: {
          200: jsonResponse('The page.', objectOf({ path: 'string', content: 'string' })),
          ...errorResponses(400, 401, 403, 404, 413, 415, 429, 503),
        },
      },
    },
    '/discovery/v1/assistant/{domain}/thread/{threadId}': {
      parameters: [domain, pathParameter('threadId', 'The conversation.')],
      get: {
        operationId: 'getThread',
        summary: 'A conversation with its sources',
        description:
          'Pages hold at most about 1 MB of text. A conversation of 200 messages, or 1 MB, goes on as a new one.',
        security: [{ adminKey: [] }, { session: [] }],
        parameters: [
          queryParameter('limit', { type: 'integer', minimum: 1, maximum: 200, default: 200 }),
          queryParameter(
            'cursor',
            { type: 'string', pattern: String.raw`^\d{1,18}$` },
            'nextCursor of the page before.',
          ),
        ],
        responses: {
          200: jsonResponse('A page of the conversation.', schemaOf(threadSchema)),
          ...errorResponses(400, 401, 403, 404, 429, 503),
        },
      },
      delete: {
        operationId: 'deleteThread',
        summary: 'Delete a conversation',
        security: [{ adminKey: [] }, { session: [] }],
        responses: { 204: { description: 'It is deleted.' }, ...errorResponses(401, 403, 404, 429, 503) },
      },
    },
  };
}

function messagePaths(version: 'v1' | 'v2', mediaType: string, client: string): Record<string, PathItem> {
  const stream = {
    description: `The reply as a stream for ${client}.`,
    headers: threadHeader,
    content: { [mediaType]: { schema: { type: 'string' } } },
  };
  const base = `/discovery/${version}/assistant/{domain}/message`;
  return {
    [base]: {
      post: {
        operationId: `createAssistantMessage${version.toUpperCase()}`,
        summary: `Ask the documentation; for clients of ${client}`,
        security,
        parameters: [domain],
        requestBody: bodyOf(schemaOf(messageBodySchema, 'input')),
        responses: {
          200: { ...stream, headers: { ...threadHeader, ...resumeHeader } },
          ...errorResponses(400, 401, 403, 404, 413, 415, 429, 503),
        },
      },
    },
    [`${base}/{chatId}/stream`]: {
      get: {
        operationId: `resumeAssistantMessage${version.toUpperCase()}`,
        summary: 'Resume a running reply that was asked with resumable: true',
        security,
        parameters: [
          domain,
          pathParameter('chatId', 'The id of the chat, as in the request that began the reply.'),
          {
            name: 'X-Resume-Token',
            in: 'header',
            required: true,
            schema: { type: 'string' },
            description: 'What the answer to that request gave; without it there is nothing to resume.',
          },
        ],
        responses: {
          200: stream,
          204: { description: 'There is nothing to resume.' },
          ...errorResponses(401, 403, 404, 429, 503),
        },
      },
    },
  };
}

function bodyOf(schema: unknown): unknown {
  return { required: true, content: { 'application/json': { schema } } };
}

function objectOf(types: Record<string, string>): unknown {
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }])),
    required: Object.keys(types),
  };
}

function pathParameter(name: string, description: string): unknown {
  return { name, in: 'path', required: true, schema: { type: 'string' }, description };
}
