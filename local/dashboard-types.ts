import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { createOpenApi } from '../api/openapi/openapi.ts';
import { readTool } from '../lib/inputs/tool-arguments.ts';
import { routes } from '../api/openapi/routes.ts';

const typesFile = resolve(import.meta.dirname, '../dashboard/http/schema.d.ts');

const schemaShape = z.object({
  $ref: z.string().optional(),
  description: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  items: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).default([]),
  additionalProperties: z.union([z.boolean(), z.record(z.string(), z.unknown())]).optional(),
});
const contentShape = z.record(z.string(), z.object({ schema: z.unknown() })).default({});
const operationShape = z.object({
  operationId: z.string(),
  summary: z.string(),
  parameters: z
    .array(
      z.object({
        name: z.string(),
        in: z.string(),
        required: z.boolean().default(false),
        schema: z.unknown(),
        description: z.string().optional(),
      }),
    )
    .default([]),
  requestBody: z.object({ required: z.boolean(), content: contentShape }).optional(),
  responses: z.record(z.string(), z.object({ content: contentShape })),
});
type Operation = z.infer<typeof operationShape>;

/**
 * Returns the TypeScript declarations of an OpenAPI document in the layout that openapi-fetch reads: `paths` by path and
 * method, and `operations` by id. Knows the JSON Schema keywords that the API's validators produce, and throws at others
 * that would change a type.
 */
export function typesOf(document: ReturnType<typeof createOpenApi>): string {
  const operations: Operation[] = [];
  const paths = Object.entries(document.paths).map(([path, methods]) => {
    const members = Object.entries(methods).map(([method, value]) => {
      const operation = operationShape.parse(value);
      operations.push(operation);
      return `${comment(operation.summary)}${method}: operations[${JSON.stringify(operation.operationId)}];`;
    });
    return `${JSON.stringify(path)}: { ${members.join('\n')} };`;
  });
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => `${name}: ${typeOf(schema)};`);
  return [
    '// generated from the OpenAPI document by "npm run dashboard:types"; do not edit',
    `export interface paths {\n${paths.join('\n')}\n}`,
    `export interface operations {\n${operations.map(operationOf).join('\n')}\n}`,
    `export interface components { schemas: { ${schemas.join('\n')} } }`,
    '',
  ].join('\n');
}

function operationOf({ operationId, parameters, requestBody, responses }: Operation): string {
  const places = ['query', 'header', 'path', 'cookie'].map((place) => {
    const here = parameters.filter((parameter) => parameter.in === place);
    if (here.length === 0) return `${place}?: never;`;
    const members = here.map(
      ({ name, required, schema, description }) =>
        `${comment(description)}${member(name, required)}: ${typeOf(schema)};`,
    );
    return `${member(
      place,
      here.some(({ required }) => required),
    )}: { ${members.join('\n')} };`;
  });
  const body =
    requestBody === undefined
      ? 'requestBody?: never;'
      : `${member('requestBody', requestBody.required)}: { content: ${contentOf(requestBody.content)} };`;
  const answers = Object.entries(responses).map(([status, { content }]) => {
    const held = Object.keys(content).length === 0 ? 'content?: never;' : `content: ${contentOf(content)};`;
    return `${status}: { headers: { [name: string]: unknown }; ${held} };`;
  });
  return `${operationId}: {\nparameters: { ${places.join(' ')} };\n${body}\nresponses: {\n${answers.join('\n')}\n};\n};`;
}

function contentOf(content: z.infer<typeof contentShape>): string {
  return `{ ${Object.entries(content)
    .map(([type, { schema }]) => `${JSON.stringify(type)}: ${typeOf(schema)};`)
    .join(' ')} }`;
}

function typeOf(value: unknown): string {
  const schema = schemaShape.parse(value);
  if (schema.$ref !== undefined) {
    return `components${schema.$ref.slice('#/components'.length).replaceAll(/\/(\w+)/gu, "['$1']")}`;
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return unionOf(schema.enum.map((one) => JSON.stringify(one)));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return unionOf(choices.map(typeOf));
  if (schema.type === undefined) return 'unknown';
  if (Array.isArray(schema.type)) return unionOf(schema.type.map((type) => simpleTypeOf(type, schema)));
  return simpleTypeOf(schema.type, schema);
}

function simpleTypeOf(type: string, schema: z.infer<typeof schemaShape>): string {
  if (type === 'array') return `(${typeOf(schema.items ?? {})})[]`;
  if (type === 'integer') return 'number';
  if (type !== 'object') return z.enum(['string', 'number', 'boolean', 'null']).parse(type);
  const { properties = {}, required, additionalProperties = false } = schema;
  const members = Object.entries(properties).map(([name, property]) => {
    const { description } = schemaShape.parse(property);
    return `${comment(description)}${member(name, required.includes(name))}: ${typeOf(property)};`;
  });
  const rest = typeof additionalProperties === 'boolean' ? (additionalProperties ? {} : null) : additionalProperties;
  if (rest !== null) members.push(`[key: string]: ${members.length > 0 ? 'unknown' : typeOf(rest)};`);
  return members.length === 0 ? 'Record<string, never>' : `{ ${members.join('\n')} }`;
}

function unionOf(types: string[]): string {
  return `(${[...new Set(types)].join(' | ')})`;
}

function member(name: string, isRequired: boolean): string {
  return `${JSON.stringify(name)}${isRequired ? '' : '?'}`;
}

function comment(text: string | undefined): string {
  return text === undefined ? '' : `\n/** ${text.replaceAll('*/', '* /')} */\n`;
}

if (import.meta.main) {
  readTool({
    command: 'npm run dashboard:types --',
    about: "Writes the dashboard's types of the HTTP API, from its OpenAPI description.",
  });
  writeFileSync(typesFile, typesOf(createOpenApi({ baseUrl: 'http://127.0.0.1:8080', routes })));
}
