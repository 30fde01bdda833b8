import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** A JSON schema; its parts are plain JSON. */
export type Schema = Record<string, any>;

export interface Operation {
  id: string;
  method: string;
  /** With `{names}` in braces. */
  template: string;
  pathNames: string[];
  queries: { name: string; schema: Schema }[];
  headers: { name: string; schema: Schema }[];
  /** The kind of key it needs, or the cookie of a session; null: none. */
  key: 'admin' | 'assistant' | 'session' | null;
  body: Schema | null;
  /** Whether it can answer with a stream of events that lasts as long as a job. */
  isEventStream: boolean;
}

export interface Description {
  operations: Operation[];
  /** Returns how an answer contradicts the description, or null. */
  problemWith(answer: DescribedAnswer): string | null;
}

export interface DescribedAnswer {
  method: string;
  /** Without the query. */
  path: string;
  status: number;
  /** Of the content; empty without one. */
  type: string;
  text: string;
}

interface Response {
  content?: Record<string, { schema?: Schema }>;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** Reads the service's own OpenAPI description. */
export async function readDescription(baseUrl: string): Promise<Description> {
  const document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as Schema;
  const ajv = new Ajv2020({ strict: false, validateFormats: true, formats: { binary: true } });
  formats.default(ajv);
  ajv.addSchema({ $id: 'docket', components: document['components'] });
  const compiled = new Map<Schema, ValidateFunction>();
  const operations: Operation[] = [];
  const responses = new Map<string, Record<string, Response>>();
  for (const [template, item] of Object.entries<Schema>(document['paths'])) {
    for (const method of methods.filter((name) => name in item)) {
      const described = item[method] as Schema;
      const operation = operationOf(template, method.toUpperCase(), { ...item, ...described }, [
        ...(item['parameters'] ?? []),
        ...(described['parameters'] ?? []),
      ]);
      operations.push(operation);
      responses.set(operation.id, described['responses']);
    }
  }

  function validatorOf(schema: Schema): ValidateFunction {
    let validate = compiled.get(schema);
    if (validate === undefined) {
      validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"docket#/components')));
      compiled.set(schema, validate);
    }
    return validate;
  }

  function operationAt(method: string, path: string): Operation | null {
    // paths without parameters take precedence
    const found = operations.filter((one) => one.method === method && patternOf(one.template).test(path));
    return found.toSorted((a, b) => a.pathNames.length - b.pathNames.length)[0] ?? null;
  }

  return {
    operations,
    problemWith({ method, path, status, type, text }) {
      const operation = operationAt(method, path);
      if (operation === null) return 'is not described';
      const response = responses.get(operation.id)?.[String(status)];
      if (response === undefined) return `${operation.id} does not describe ${status}`;
      const [mediaType = ''] = type.split(';');
      if (response.content === undefined) return text === '' ? null : `${operation.id} ${status} has a body`;
      const content = response.content[mediaType];
      if (content === undefined) return `${operation.id} ${status} does not describe ${mediaType}`;
      if (mediaType !== 'application/json' || content.schema === undefined) return null;
      const validate = validatorOf(content.schema);
      if (validate(parsed(text))) return null;
      return `${operation.id} ${status}: ${ajv.errorsText(validate.errors?.slice(0, 3))}`;
    },
  };
}

function operationOf(template: string, method: string, described: Schema, parameters: Schema[]): Operation {
  const placed = (place: string) =>
    parameters.filter((one) => one['in'] === place).map((one) => ({ name: one['name'], schema: one['schema'] ?? {} }));
  const [security] = described['security'] ?? [];
  const success = Object.entries<Response>(described['responses']).filter(([status]) => status.startsWith('2'));
  return {
    id: described['operationId'],
    method,
    template,
    pathNames: Array.from(template.matchAll(/\{(\w+)\}/g), ([, name]) => name!),
    queries: placed('query'),
    headers: placed('header'),
    key: keyOf(security),
    body: described['requestBody']?.content?.['application/json']?.schema ?? null,
    isEventStream:
      method === 'GET' && success.some(([, { content }]) => content !== undefined && 'text/event-stream' in content),
  };
}

function keyOf(security: Schema | undefined): Operation['key'] {
  if (security === undefined) return null;
  if ('session' in security) return 'session';
  return 'adminKey' in security ? 'admin' : 'assistant';
}

/** A parameter matches anything but a slash, except for the path of a page. A slash at the end is ignored. */
function patternOf(template: string): RegExp {
  const literal = template
    .replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
    .replace('{path}', '.+')
    .replaceAll(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${literal}/?$`, 'i');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
