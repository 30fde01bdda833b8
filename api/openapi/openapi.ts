import { z } from 'zod';
import { keyOf, roleOf, type Response, type Route } from '../http/define-route.ts';

type JsonSchema = Record<string, unknown>;

const security = {
  admin: [{ adminKey: [] }, { session: [] }],
  assistant: [{ assistantKey: [] }, { session: [] }],
  'assistant-unproven': [{ assistantKey: [] }, { session: [] }],
  session: [{ session: [] }],
  none: [],
};

/** Groups of operations by path; the first one counts. */
const tags: [RegExp, string][] = [
  [/\/webhooks(?:\/|$)/, 'Webhooks'],
  [/^\/(?:v2\/agent|v1\/jobs)(?:\/|$)/, 'Agent jobs'],
  [/^\/v1\/pull-requests\//, 'Pull requests'],
  [/^\/(?:discovery|mcp)\//, 'Assistant'],
  [/^\/v1\/sites/, 'Sites'],
  [/^\/v1\//, 'Administration'],
];

export const apiVersion = '2.0.0';

/** Returns the OpenAPI 3.1 document of the declared endpoints. */
export function createOpenApi({ baseUrl, routes }: { baseUrl: string; routes: Record<string, Route> }) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [id, route] of Object.entries(routes)) {
    const path = route.path.replace('{+', '{');
    paths[path] = { ...paths[path], [route.method]: operationOf(id, route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Docket',
      version: apiVersion,
      description: 'Agent jobs that end in pull requests, and a documentation assistant.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    paths,
    components: {
      securitySchemes: {
        adminKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An admin API key (svc_…): secret, for servers only.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'docket_session',
          description: 'A dashboard session. Over https the cookie is named __Host-docket.',
        },
        assistantKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An assistant API key (svc_dsc_…): public and safe to embed in a page.',
        },
      },
      schemas: {
        Error: {
          type: 'object',
          properties: { error: { type: 'string', description: 'What is wrong, and what to do about it.' } },
          required: ['error'],
          additionalProperties: false,
        },
      },
    },
  };
}

function operationOf(operationId: string, route: Route) {
  const role = roleOf(route);
  const { summary, description, params = {}, query, headers = {}, body, example, responses } = route;
  const parameters = [
    ...parametersOf('path', z.object(params)),
    ...(query === undefined ? [] : parametersOf('query', query)),
    ...parametersOf('header', z.object(headers)),
  ];
  return {
    operationId,
    tags: [tags.find(([pattern]) => pattern.test(route.path))?.[1] ?? 'Service'],
    summary,
    ...(description !== undefined && { description }),
    ...(role !== null && { 'x-role': role }),
    security: security[keyOf(route)],
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: { 'application/json': { schema: schemaOf(body, 'input'), ...(example !== undefined && { example }) } },
      },
    }),
    responses: {
      ...Object.fromEntries(Object.entries(responses).map(([status, response]) => [status, responseOf(response)])),
      ...Object.fromEntries(errorsOf(route).map((status) => [status, errorOf(status)])),
    },
  };
}

function parametersOf(place: 'path' | 'query' | 'header', schema: z.ZodObject) {
  // a parameter parsed into a number or a list is described as such, any other as the text that is sent
  const [parsed, sent] = [schemaOf(schema, 'output'), schemaOf(schema, 'input')];
  return Object.keys(schema.shape).map((name) => {
    const typed = propertyOf(parsed, name);
    const { description, ...rest } = 'type' in typed || 'enum' in typed ? typed : propertyOf(sent, name);
    const isRequired = Array.isArray(sent['required']) && sent['required'].includes(name);
    return {
      name,
      in: place,
      ...(isRequired && { required: true }),
      schema: rest,
      ...(description !== undefined && { description }),
    };
  });
}

const objectSchema = z.object({ properties: z.record(z.string(), z.record(z.string(), z.unknown())).default({}) });

function propertyOf(schema: JsonSchema, name: string): JsonSchema {
  return objectSchema.parse(schema).properties[name] ?? {};
}

/** Returns the JSON schema of a validator's input or output. */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _dialect, ...jsonSchema } = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' });
  return jsonSchema;
}

function responseOf({ description, content, headers }: Response) {
  return {
    description,
    ...(headers !== undefined && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, meaning]) => [name, { schema: { type: 'string' }, description: meaning }]),
      ),
    }),
    ...(content !== undefined && {
      content: Object.fromEntries(
        Object.entries(content).map(([type, schema]) => [type, { schema: schemaOf(schema, 'output') }]),
      ),
    }),
  };
}

const errorDescriptions: Record<number, string> = {
  400: 'The request is invalid.',
  401: 'The key is missing, unknown, expired or revoked.',
  403: 'The key is of the wrong kind, or its role may not do this.',
  404: 'Not found, or owned by another organization.',
  409: 'The request conflicts with the current state or with an earlier request.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  428: 'The key requires a proof of work; see POST /discovery/v1/challenge.',
  429: 'Too many requests; see Retry-After.',
  503: 'Temporarily unavailable; see Retry-After.',
};

const errorsOfKey = {
  admin: [401, 403, 429, 503],
  assistant: [401, 403, 428, 429, 503],
  'assistant-unproven': [401, 403, 429, 503],
  session: [401, 503],
  none: [],
};

function errorsOf(route: Route): number[] {
  const { method, params, query, body, errors = [] } = route;
  const key = keyOf(route);
  return [
    ...errorsOfKey[key],
    ...(key === 'session' && method !== 'get' ? [403] : []),
    ...(params === undefined ? [] : [404]),
    ...(query === undefined ? [] : [400]),
    ...(body === undefined ? [] : [400, 413, 415]),
    ...errors,
  ];
}

function errorOf(status: number) {
  const schema = { $ref: '#/components/schemas/Error' };
  return { description: errorDescriptions[status] ?? 'Refused.', content: { 'application/json': { schema } } };
}
