import { expect, it } from 'vitest';
import { createOpenApi } from '../../../api/openapi/openapi.ts';
import { routes } from '../../../api/openapi/routes.ts';

interface List {
  /** Operation and fields, such as `listProjects projects.reviewers`. */
  place: string;
  most: number | undefined;
}

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string; schema: { maximum?: number } }[];
  responses: Record<string, { content?: Record<string, { schema?: unknown }> }>;
}

const document = createOpenApi({ baseUrl: 'https://docket.example.com', routes }) as any;
const operations = Object.values<any>(document.paths).flatMap((path) =>
  Object.values<Operation>(path).filter(({ operationId }) => operationId !== undefined),
);

function listsOf(schema: any, place: string): List[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { items, maxItems, properties = {}, additionalProperties, anyOf = [], oneOf = [], allOf = [] } = schema;
  return [
    ...(items === undefined && schema.type !== 'array' ? [] : [{ place, most: maxItems }, ...listsOf(items, place)]),
    ...Object.entries(properties).flatMap(([name, field]) => listsOf(field, `${place}.${name}`)),
    ...listsOf(additionalProperties, `${place}.*`),
    ...[anyOf, oneOf, allOf].flat().flatMap((part: unknown) => listsOf(part, place)),
  ];
}

function listsOfAnswers({ operationId, responses }: Operation): List[] {
  return Object.values(responses).flatMap(({ content = {} }) =>
    Object.values(content).flatMap(({ schema }) => listsOf(schema, operationId)),
  );
}

const limitOf = ({ parameters = [] }: Operation) =>
  parameters.find(({ name, in: place }) => place === 'query' && name === 'limit')?.schema.maximum;

it('knows the maximum length of every list in every response', () => {
  const lists = operations.flatMap(listsOfAnswers);
  expect(lists.length).toBeGreaterThan(60);
  expect(lists.filter(({ most }) => !(Number.isInteger(most) && most! <= 1_000)).map(({ place }) => place)).toEqual([]);
});

it('has pages no longer than the maximum limit', () => {
  const paged = operations.filter((operation) => limitOf(operation) !== undefined);
  expect(paged.length).toBeGreaterThan(8);
  for (const operation of paged) {
    const [first] = listsOfAnswers(operation);
    expect([operation.operationId, first?.most]).toEqual([operation.operationId, limitOf(operation)]);
  }
});

it('detects a list without a length at any depth', () => {
  const unbounded = {
    operationId: 'new',
    responses: {
      200: {
        content: {
          'application/json': {
            schema: {
              anyOf: [{ type: 'null' }, { properties: { a: { additionalProperties: { items: { type: 'string' } } } } }],
            },
          },
        },
      },
    },
  };
  expect(listsOfAnswers(unbounded)).toEqual([{ place: 'new.a.*', most: undefined }]);
});
