import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

interface Exchange {
  method: string;
  path: string;
  /** The JSON of the request's body, when it had one. */
  sent: unknown;
  status: number;
  contentType: string | null;
  text: string;
}

type Json = Record<string, any>;

/** Says where an exchange differs from the OpenAPI description of the service; empty when it does not. */
export function createConformance(document: Json): (exchange: Exchange) => string[] {
  const ajv = new Ajv2020({ allErrors: false, strict: false, discriminator: false });
  formats.default(ajv);
  ajv.addSchema({ $id: 'docket', components: document['components'] });
  const compiled = new Map<object, ValidateFunction>();
  const paths = Object.entries<Json>(document['paths']).map(([template, item]) => ({
    template,
    item,
    // a literal part wins over a parameter
    parameters: template.split('{').length - 1,
    pattern: new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}/?$`),
  }));

  function problemWith(schema: Json, value: unknown): string | null {
    let validate = compiled.get(schema);
    if (validate === undefined) {
      validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"docket#/components')));
      compiled.set(schema, validate);
    }
    return validate(value) ? null : ajv.errorsText(validate.errors);
  }

  function operationOf(method: string, path: string): { operation: Json; name: string } | null {
    const [found] = paths
      .filter(({ pattern }) => pattern.test(path))
      .toSorted((one, other) => one.parameters - other.parameters);
    const operation = found?.item[method === 'HEAD' ? 'get' : method.toLowerCase()];
    return operation === undefined ? null : { operation, name: `${method} ${found?.template}` };
  }

  return ({ method, path, sent, status, contentType, text }) => {
    // pages for people, and their files
    if (path.startsWith('/assets/')) return [];
    if (
      contentType !== null &&
      !/^(?:application\/json|text\/(?:plain|event-stream|x-diff)|application\/gzip)/.test(contentType)
    )
      return [];
    const found = operationOf(method, path.split('?')[0] ?? path);
    // an address or a method that is not described is nobody's
    if (found === null) return status >= 400 || method === 'OPTIONS' ? [] : [`${method} ${path} is not described`];
    const { operation, name } = found;
    const problems: string[] = [];
    const body = operation['requestBody']?.content?.['application/json']?.schema;
    if (status < 300 && sent !== undefined && body !== undefined) {
      const problem = problemWith(body, sent);
      if (problem !== null) problems.push(`${name} took a body that is not described: ${problem}`);
    }
    const response = operation['responses'][String(status)];
    // what no route answers: the guards in front of all of them
    if (response === undefined) return [...problems, `${name} answered ${status}, which is not described`];
    if (response.content === undefined)
      return text === '' ? problems : [...problems, `${name} answered ${status} with a body that is not described`];
    if (method === 'HEAD') return problems;
    const type = contentType?.split(';')[0] ?? '';
    const described = response.content[type]?.schema;
    if (described === undefined) return [...problems, `${name} answered ${status} as ${type}, which is not described`];
    if (type !== 'application/json') return problems;
    const problem = problemWith(described, JSON.parse(text));
    return problem === null ? problems : [...problems, `${name} answered ${status} with another body: ${problem}`];
  };
}
