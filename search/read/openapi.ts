import { asyncOperations } from './asyncapi.ts';
import { slugOf } from './anchors.ts';
import { parseApi } from './api-files.ts';
import { isRecord, listOf, textOf } from './front-matter.ts';
import { describeContent, describeSchema, joined, resolveReference } from './openapi-schema.ts';
import { trimEndSlashes } from '../../lib/trim-end-slashes.ts';

export interface Operation {
  /** `GET`; `Webhook` for a webhook. */
  method: string;
  /** As in the file: `/users/{id}`, or the name of a webhook. */
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
const maxTextLength = 20_000_000;
/**
 * Longest details of one operation, and of all together: each operation repeats the schemas that it shares with others.
 */
const maxDetailsLength = 200_000;
const maxTotalLength = 64_000_000;
const maxParameters = 500;

/**
 * Returns the operations of an OpenAPI 2 or 3 or AsyncAPI 2 or 3 file, which may refer to other files; null for other files.
 */
export function readOperations(
  path: string,
  fileOf: (path: string) => string | undefined,
): Operation[] | 'malformed' | null {
  const text = fileOf(path) ?? '';
  if (text.length > maxTextLength || !/["']?(?:openapi|swagger|asyncapi)["']?\s*:\s*["']?[23]/.test(text)) return null;
  const api = parseApi(path, fileOf);
  if (api === undefined) return 'malformed';
  if (!isRecord(api)) return null;
  if (/^[23]/.test(textOf(api.asyncapi) ?? '')) return asyncOperations(api);
  const isOpenApi = textOf(api.openapi)?.startsWith('3') === true || textOf(api.swagger)?.startsWith('2') === true;
  if (!isOpenApi || !(isRecord(api.paths) || isRecord(api.webhooks))) return null;
  const base = trimEndSlashes(textOf(api.basePath) ?? '');
  const operations: Operation[] = [];
  let left = maxTotalLength;
  for (const kind of ['paths', 'webhooks'] as const) {
    const items = api[kind];
    if (!isRecord(items)) continue;
    for (const [route, found] of Object.entries(items)) {
      const item = resolveReference(api, found);
      if (!isRecord(item)) continue;
      for (const name of methods) {
        const operation = item[name];
        if (!isRecord(operation)) continue;
        const details = left > 0 ? detailsOf(api, item, operation) : '';
        left -= details.length;
        const method = name.toUpperCase();
        const at =
          kind === 'paths'
            ? { method, route, place: `Endpoint \`${method} ${base}${route}\`` }
            : { method: 'Webhook', route, place: `Webhook \`${route}\` (${method})` };
        operations.push({ ...operationOf(item, operation, at), details });
      }
    }
  }
  return operations;
}

function operationOf(
  item: Record<string, unknown>,
  operation: Record<string, unknown>,
  { method, route, place }: { method: string; route: string; place: string },
): Omit<Operation, 'details'> {
  const summary = textOf(operation.summary);
  const id = textOf(operation.operationId);
  const description = textOf(operation.description) ?? textOf(item.description);
  const lead = [place, id === undefined ? '' : `Operation \`${id}\``, description ?? ''];
  return {
    method,
    route,
    title: summary ?? id ?? `${method} ${route}`,
    description: description?.split('\n')[0],
    tags: listOf(operation.tags),
    isHidden: operation['x-hidden'] === true || operation['x-excluded'] === true || operation['x-internal'] === true,
    slug:
      slugOf(summary ?? id ?? `${method} ${route.replace(/[/{}]+/g, ' ').trim()}`).replace(/^-+|(?<!-)-+$/g, '') ||
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
  const listed = [item.parameters, operation.parameters].flatMap((list) =>
    Array.isArray(list) ? list.slice(0, maxParameters).map((found) => resolveReference(api, found)) : [],
  );
  // a parameter of the operation replaces that of the path
  const parameters = [...new Map(listed.map((found) => [keyOfParameter(found), found])).values()];
  const isBody = (parameter: unknown) => isRecord(parameter) && parameter.in === 'body';
  const parts = [
    parametersOf(
      api,
      parameters.filter((parameter) => !isBody(parameter)),
    ),
  ];
  // version 2 has its body among the parameters
  const body = resolveReference(api, operation.requestBody) ?? parameters.find(isBody);
  if (isRecord(body))
    parts.push(
      joined([
        '## Request body',
        textOf(body.description) ?? '',
        describeContent(api, contentOf(body, operation.consumes ?? api.consumes)),
      ]),
    );
  parts.push(responsesOf(api, operation.responses, operation.produces ?? api.produces));
  return joined(parts).slice(0, maxDetailsLength);
}

function keyOfParameter(parameter: unknown): string {
  return isRecord(parameter) ? `${textOf(parameter.in)} ${textOf(parameter.name)}` : '';
}

/** Returns the content of a body by media type; version 2 has one schema for all of them. */
function contentOf(body: Record<string, unknown>, mediaTypes: unknown): unknown {
  if (body.schema === undefined) return body.content;
  return { [listOf(mediaTypes)?.[0] ?? 'application/json']: { schema: body.schema } };
}

function parametersOf(api: Record<string, unknown>, parameters: unknown[]): string {
  const lines: string[] = [];
  for (const parameter of parameters) {
    if (!isRecord(parameter)) continue;
    const facts = [
      textOf(parameter.in),
      describeSchema(api, parameter.schema ?? parameter),
      parameter.required === true ? 'required' : '',
    ];
    const text = textOf(parameter.description);
    lines.push(
      `- \`${textOf(parameter.name) ?? ''}\` (${facts.filter(Boolean).join(', ')})${text === undefined ? '' : `: ${text}`}`,
    );
  }
  return lines.length === 0 ? '' : `## Parameters\n\n${lines.join('\n')}`;
}

function responsesOf(api: Record<string, unknown>, responses: unknown, mediaTypes: unknown): string {
  if (!isRecord(responses)) return '';
  const parts: string[] = [];
  let length = 0;
  for (const [status, found] of Object.entries(responses)) {
    const response = resolveReference(api, found);
    if (!isRecord(response)) continue;
    const part = joined([
      `### ${status}`,
      textOf(response.description) ?? '',
      describeContent(api, contentOf(response, mediaTypes)),
    ]);
    parts.push(part);
    length += part.length;
    if (length > maxDetailsLength) break;
  }
  return parts.length === 0 ? '' : `## Responses\n\n${parts.join('\n\n')}`;
}
