import { isRecord, listOf, textOf } from './front-matter.ts';
import { slugOf } from './anchors.ts';
import type { Operation } from './openapi.ts';
import { describeContent, describeSchema, joined, resolveReference } from './openapi-schema.ts';

type Api = Record<string, unknown>;

const maxDetailsLength = 200_000;
const maxMessages = 50;
const maxOperations = 5_000;

/** Returns the operations of an AsyncAPI 2 or 3 document: what an application sends to and receives from channels. */
export function asyncOperations(api: Api): Operation[] {
  const found = textOf(api.asyncapi)?.startsWith('2') === true ? operationsOf2(api) : operationsOf3(api);
  return found.slice(0, maxOperations).map((entry) => operationOf(api, entry));
}

interface Found {
  id: string | undefined;
  /** `SEND` or `RECEIVE`; `PUBLISH` or `SUBSCRIBE` in version 2. */
  action: string;
  address: string;
  channel: Api;
  operation: Api;
  messages: unknown[];
}

function operationsOf2(api: Api): Found[] {
  return entriesOf(api, api.channels).flatMap(([address, channel]) =>
    ['publish', 'subscribe'].flatMap((action): Found[] => {
      const operation = resolveReference(api, channel[action]);
      if (!isRecord(operation)) return [];
      const message = resolveReference(api, operation.message);
      const messages = isRecord(message) && Array.isArray(message.oneOf) ? message.oneOf : [message];
      return [
        { id: textOf(operation.operationId), action: action.toUpperCase(), address, channel, operation, messages },
      ];
    }),
  );
}

function operationsOf3(api: Api): Found[] {
  return entriesOf(api, api.operations).map(([id, operation]) => {
    const resolved = resolveReference(api, operation.channel);
    const channel = isRecord(resolved) ? resolved : {};
    const listed = Array.isArray(operation.messages) ? operation.messages : null;
    return {
      id,
      action: textOf(operation.action)?.toUpperCase() ?? 'SEND',
      address: textOf(channel.address) ?? id,
      channel,
      operation,
      messages: listed ?? (isRecord(channel.messages) ? Object.values(channel.messages) : []),
    };
  });
}

function entriesOf(api: Api, value: unknown): [string, Api][] {
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, found]): [string, Api][] => {
    const entry = resolveReference(api, found);
    return isRecord(entry) ? [[name, entry]] : [];
  });
}

function operationOf(api: Api, { id, action, address, channel, operation, messages }: Found): Operation {
  const title = textOf(operation.title) ?? textOf(operation.summary) ?? id ?? `${action} ${address}`;
  const description = textOf(operation.description) ?? textOf(channel.description) ?? textOf(operation.summary);
  const tags = Array.isArray(operation.tags)
    ? operation.tags.map((tag) => (isRecord(tag) ? tag.name : tag))
    : undefined;
  const lead = [
    `Channel \`${address}\`: \`${action}\``,
    id === undefined ? '' : `Operation \`${id}\``,
    description ?? '',
  ];
  const details = [
    parametersOf(api, channel.parameters),
    ...messages.slice(0, maxMessages).map((message) => messageOf(api, message)),
  ];
  return {
    method: action,
    route: address,
    title,
    description: description?.split('\n')[0],
    tags: listOf(tags),
    isHidden: operation['x-hidden'] === true || operation['x-internal'] === true,
    slug: slugOf(title).replace(/^-+|(?<!-)-+$/g, '') || 'operation',
    isDeprecated: operation.deprecated === true,
    lead: joined(lead),
    details: joined(details).slice(0, maxDetailsLength),
  };
}

function parametersOf(api: Api, parameters: unknown): string {
  const lines = entriesOf(api, parameters).map(([name, parameter]) => {
    const facts = describeSchema(api, parameter.schema ?? parameter);
    const text = textOf(parameter.description);
    return `- \`${name}\`${facts === '' ? '' : ` (${facts})`}${text === undefined ? '' : `: ${text}`}`;
  });
  return lines.length === 0 ? '' : `## Parameters\n\n${lines.slice(0, maxMessages).join('\n')}`;
}

function messageOf(api: Api, found: unknown): string {
  const message = resolveReference(api, found);
  if (!isRecord(message)) return '';
  const name = textOf(message.title) ?? textOf(message.name) ?? 'Message';
  const mediaType = textOf(message.contentType) ?? textOf(api.defaultContentType) ?? 'application/json';
  // a payload in its own format is inside an object that names the format
  const payload =
    isRecord(message.payload) && isRecord(message.payload.schema) ? message.payload.schema : message.payload;
  const headers =
    message.headers === undefined ? '' : `Headers\n\n${describeContent(api, { headers: { schema: message.headers } })}`;
  const text = textOf(message.description) ?? textOf(message.summary) ?? '';
  return joined([`## ${name}`, text, headers, describeContent(api, { [mediaType]: { schema: payload } })]);
}
