import { z } from 'zod';

/** An OpenAPI path item; its parts are plain JSON. */
export type PathItem = Record<string, unknown>;
/** Describes the paths of one resource. */
export type PathMaker = () => Record<string, PathItem>;

/** The OpenAPI 3.1 description, made from the validators that the routes use. */
export function createOpenApi({ baseUrl, paths }: { baseUrl: string; paths: PathMaker[] }): unknown {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Docket',
      version: '2.0.0',
      description: 'Agent jobs that end in pull requests, and a documentation assistant.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    paths: Object.assign({}, ...paths.map((describe) => describe())),
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
          description: 'A session of the dashboard; __Host-docket where the service is reached over https.',
        },
        assistantKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An assistant API key (svc_dsc_…): public, may stand in a page.',
        },
      },
      schemas: {
        Error: {
          type: 'object',
          properties: { error: { type: 'string', description: 'What happened and what to do, in one sentence.' } },
          required: ['error'],
          additionalProperties: false,
        },
      },
    },
  };
}

/** The JSON schema of a validator: what it takes (`input`) or what it gives (`output`). */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output' = 'output'): Record<string, unknown> {
  const { $schema: _dialect, ...jsonSchema } = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' });
  return jsonSchema;
}

/** A parameter of the query, which may be left out. */
export function queryParameter(name: string, schema: unknown, description?: string) {
  return { name, in: 'query', schema, ...(description === undefined ? {} : { description }) };
}

/** A part of the path. */
export function pathParameter(name: string, description: string) {
  return { name, in: 'path', required: true, schema: { type: 'string' }, description };
}

/** The parameters of a list that is given in pages. */
export const pageParameters = pageParametersWith(20);

/** The same for a list that seldom has more than one page. */
export const listParameters = pageParametersWith(100);

function pageParametersWith(usual: number) {
  return [
    queryParameter('limit', { type: 'integer', minimum: 1, maximum: 100, default: usual }),
    queryParameter('cursor', { type: 'string' }, 'nextCursor of the page before.'),
  ];
}

/** A request body of JSON. */
export function jsonBody(schema: unknown) {
  return { required: true, content: { 'application/json': { schema } } };
}

/** A response with a JSON body. */
export function jsonResponse(description: string, schema: unknown): unknown {
  return { description, content: { 'application/json': { schema } } };
}

const errorDescriptions: Record<number, string> = {
  400: 'The request is invalid.',
  401: 'No key, or one that is unknown, expired or revoked.',
  403: 'A key of the wrong kind.',
  404: 'Not found, or of another organization.',
  409: 'The request contradicts an earlier one.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  429: 'Too many requests; see Retry-After.',
  503: 'A store is down; see Retry-After.',
};

/** The error responses of an operation. */
export function errorResponses(...statuses: (keyof typeof errorDescriptions)[]): Record<string, unknown> {
  const schema = { $ref: '#/components/schemas/Error' };
  return Object.fromEntries(
    statuses.map((status) => [String(status), jsonResponse(errorDescriptions[status] ?? 'Refused.', schema)]),
  );
}
