import { slugOf } from './anchors.ts';
import { isRecord, listOf, parseYaml, textOf } from './front-matter.ts';
import { describeContent, describeSchema, resolveReference } from './openapi-schema.ts';

export interface Operation {
  method: string;
  /** As in the file: `/users/{id}`. */
  route: string;
  title: string;
  description?: string;
  tags?: string[];
  isHidden: boolean;
  /** Last part of a page's path. */
  slug: string;
  isDeprecated: boolean;
  /** Its description, parameters and responses. */
  lead: string;
  details: string;
}

const methods = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'];
const largestFile = 20_000_000;
/** Longest details of an operation, and of all: operations may share schemas, which each of them describes. */
const longestDetails = 200_000;
const mostDetails = 64_000_000;
const mostParameters = 500;

/** Returns the operations of an OpenAPI 3 file; null when the text is not one. */
export function readOperations(text: string): Operation[] | null {
  if (text.length > largestFile || !/["']?openapi["']?\s*:\s*["']?3/.test(text)) return null;
  const api = parseApi(text);
  if (!isRecord(api) || !isRecord(api.paths) || !String(api.openapi).startsWith('3')) return null;
  const operations: Operation[] = [];
  let left = mostDetails;
  for (const [route, found] of Object.entries(api.paths)) {
    const item = resolveReference(api, found);
    if (!isRecord(item)) continue;
    for (const method of methods) {
      const operation = item[method];
      if (!isRecord(operation)) continue;
      const details = left > 0 ? detailsOf(api, item, operation) : '';
      left -= details.length;
      operations.push({ ...operationOf(item, operation, { method: method.toUpperCase(), route }), details });
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
  item: Record<string, unknown>,
  operation: Record<string, unknown>,
  { method, route }: { method: string; route: string },
): Omit<Operation, 'details'> {
  const summary = textOf(operation.summary);
  const id = textOf(operation.operationId);
  const description = textOf(operation.description) ?? textOf(item.description);
  const lead = [`Endpoint \`${method} ${route}\``, id === undefined ? '' : `Operation \`${id}\``, description ?? ''];
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
  };
}

function detailsOf(
  api: Record<string, unknown>,
  item: Record<string, unknown>,
  operation: Record<string, unknown>,
): string {
  const parts = [parametersOf(api, [item.parameters, operation.parameters])];
  const body = resolveReference(api, operation.requestBody);
  if (isRecord(body))
    parts.push(
      ['## Request body', textOf(body.description) ?? '', describeContent(api, body.content)]
        .filter(Boolean)
        .join('\n\n'),
    );
  parts.push(responsesOf(api, operation.responses));
  return joined(parts).slice(0, longestDetails);
}

function joined(parts: string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

function parametersOf(api: Record<string, unknown>, lists: unknown[]): string {
  const lines: string[] = [];
  for (const found of lists.flatMap((list) => (Array.isArray(list) ? list.slice(0, mostParameters) : []))) {
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
  const parts: string[] = [];
  let length = 0;
  for (const [status, found] of Object.entries(responses)) {
    const response = resolveReference(api, found);
    if (!isRecord(response)) continue;
    const part = joined([`### ${status}`, textOf(response.description) ?? '', describeContent(api, response.content)]);
    parts.push(part);
    length += part.length;
    if (length > longestDetails) break;
  }
  return parts.length === 0 ? '' : `## Responses\n\n${parts.join('\n\n')}`;
}
