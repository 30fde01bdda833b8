import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type AnySchema } from 'ajv';
import formats from 'ajv-formats';
import { z } from 'zod';

/**
 * GitHub's own description of the operations that Docket uses. The traffic of our fake server is checked against it, so that
 * the fake cannot drift from GitHub. Generated from the OpenAPI description that the npm package @octokit/openapi publishes.
 */
const schema = z.custom<AnySchema>();
const descriptionSchema = z.object({
  source: z.string(),
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        query: z.array(z.object({ name: z.string(), schema })),
        requestBody: schema.optional(),
        responses: z.record(z.string(), z.object({ schema: schema.optional() })),
      }),
    ),
  ),
  components: z.record(z.string(), z.record(z.string(), z.unknown())),
  examples: z.record(z.string(), z.unknown()),
});
const description = descriptionSchema.parse(
  JSON.parse(readFileSync(join(import.meta.dirname, 'github-api.json'), 'utf8')),
);

// a format of GitHub's own, which it does not define
const ofGithub = { 'repo.nwo': true } as const;
const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true, formats: ofGithub });
formats.default(ajv);
ajv.addSchema({ $id: 'github', components: description.components });
const compiled = new Map<string, ReturnType<typeof ajv.compile>>();

function problemsOf(name: string, schema: AnySchema | undefined, value: unknown): string[] {
  if (schema === undefined) return [];
  let validate = compiled.get(name);
  if (validate === undefined) {
    validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"github#/components')));
    compiled.set(name, validate);
  }
  if (validate(value)) return [];
  return [`${name}: ${ajv.errorsText(validate.errors?.slice(0, 3))}`];
}

/** Returns GitHub's own example of a response, for a test to fill in. */
export function githubExample(operation: string): any {
  return structuredClone(description.examples[operation]);
}

/** Returns what differs from GitHub's description in a request or its response. */
export function checkGithubTraffic({
  method,
  path,
  query,
  body,
  answer,
}: {
  method: string;
  /** Below the prefix of an Enterprise server. */
  path: string;
  query: URLSearchParams;
  body: unknown;
  answer: { status: number; body: unknown };
}): string[] {
  const template = Object.keys(description.paths).find((one) =>
    new RegExp(`^${one.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(path),
  );
  const operation = template === undefined ? undefined : description.paths[template]?.[method.toLowerCase()];
  if (operation === undefined) return [`${method} ${path} is not in GitHub's description`];
  const name = `${method} ${template}`;
  const unknown = [...query.keys()].filter((key) => !operation.query.some((one) => one.name === key));
  const response = operation.responses[String(answer.status)];
  return [
    ...unknown.map((key) => `${name}: no query ${key}`),
    ...problemsOf(`${name} request`, operation.requestBody, body ?? undefined),
    ...unknownFields(`${name} request`, operation.requestBody, body),
    ...problemsOf(`${name} ${answer.status}`, response?.schema, answer.body),
  ];
}

/** The description accepts unknown fields, but our requests must not have any. */
function unknownFields(name: string, schema: AnySchema | undefined, body: unknown): string[] {
  const known = z.object({ properties: z.record(z.string(), z.unknown()) }).safeParse(schema).data?.properties;
  if (known === undefined || typeof body !== 'object' || body === null) return [];
  return Object.keys(body)
    .filter((field) => known[field] === undefined)
    .map((field) => `${name}: no field ${field}`);
}
