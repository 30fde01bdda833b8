import { slugOf } from './anchors.ts';
import { isRecord, listOf, parseYaml, textOf } from './front-matter.ts';
import { describeContent, describeSchema, resolveReference } from './openapi-schema.ts';

export interface Operation {
  method: string;
  /** As the file has it: `/users/{id}`. */
  route: string;
  title: string;
  description?: string;
  tags?: string[];
  isHidden: boolean;
  /** Last part of a page's path. */
  slug: string;
  isDeprecated: boolean;
  /** What it is, and what it takes and gives. */
  lead: string;
  details: string;
}

const methods = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'];
const largestFile = 20_000_000;

/** The operations of an OpenAPI 3 file, null when the text is not one. */
export function readOperations(text: string): Operation[] | null {
  if (text.length > largestFile || !/["']?openapi["']?\s*:\s*["']?3/.test(text)) return null;
  const api = parseApi(text);
  if (!isRecord(api) || !isRecord(api.paths) || !String(api.openapi).startsWith('3')) return null;
  const operations: Operation[] = [];
  for (const [route, found] of Object.entries(api.paths)) {
    const item = resolveReference(api, found);
    if (!isRecord(item)) continue;
    for (const method of methods) {
      const operation = item[method];
      if (isRecord(operation))
        operations.push(operationOf(api, item, operation, { method: method.toUpperCase(), route }));
    }
  }
  return operations;
}

function parseApi(text: string): unknown {
  if (!/^\s*\{/.test(text.slice(0, 200))) return parseYaml(text);
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function operationOf(
  api: Record<string, unknown>,
  item: Record<string, unknown>,
  operation: Record<string, unknown>,
  { method, route }: { method: string; route: string },
): Operation {
  const summary = textOf(operation.summary);
  const id = textOf(operation.operationId);
  const description = textOf(operation.description) ?? textOf(item.description);
  const lead = [`Endpoint \`${method} ${route}\``, id === undefined ? '' : `Operation \`${id}\``, description ?? ''];
  const parts = [parametersOf(api, [item.parameters, operation.parameters])];
  const body = resolveReference(api, operation.requestBody);
  if (isRecord(body))
    parts.push(
      ['## Request body', textOf(body.description) ?? '', describeContent(api, body.content)]
        .filter(Boolean)
        .join('\n\n'),
    );
  parts.push(responsesOf(api, operation.responses));
  return {
    method,
    route,
    title: summary ?? id ?? `${method} ${route}`,
    description: description?.split('\n')[0],
    tags: listOf(operation.tags),
    isHidden: operation['x-hidden'] === true || operation['x-excluded'] === true || operation['x-internal'] === true,
    slug:
      slugOf(summary ?? id ?? `${method} ${route.replace(/[/{}]+/g, ' ').trim()}`).replace(/^-+|-+$/g, '') ||
      'operation',
    isDeprecated: operation.deprecated === true,
    lead: joined(lead),
    details: joined(parts),
  };
}

function joined(parts: string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

function parametersOf(api: Record<string, unknown>, lists: unknown[]): string {
  const lines: string[] = [];
  for (const found of lists.flatMap((list) => (Array.isArray(list) ? list : []))) {
    const parameter = resolveReference(api, found);
    if (!isRecord(parameter)) continue;
    const facts = [
      textOf(parameter.in),
      describeSchema(api, parameter.schema),
      parameter.required === true ? 'required' : '',
    ];
    const text = textOf(parameter.description);
    lines.push(
      `- \`${textOf(parameter.name) ?? ''}\` (${facts.filter(Boolean).join(', ')})${text === undefined ? '' : `: ${text}`}`,
    );
  }
  return lines.length === 0 ? '' : `## Parameters\n\n${lines.join('\n')}`;
}

function responsesOf(api: Record<string, unknown>, responses: unknown): string {
  if (!isRecord(responses)) return '';
  const parts = Object.entries(responses).map(([status, found]) => {
    const response = resolveReference(api, found);
    if (!isRecord(response)) return '';
    return [`### ${status}`, textOf(response.description) ?? '', describeContent(api, response.content)]
      .filter(Boolean)
      .join('\n\n');
  });
  const text = parts.filter((part) => part !== '').join('\n\n');
  return text === '' ? '' : `## Responses\n\n${text}`;
}
