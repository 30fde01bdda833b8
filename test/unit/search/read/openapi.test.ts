import { expect, it } from 'vitest';
import { readOperations, type Operation } from '../../../../search/read/openapi.ts';
import { collectPages, readPages } from '../../../../search/read/read-pages.ts';
import { fileOf } from '../build.ts';

function operationsOf(text: string): Operation[] {
  const read = readOperations('api.json', () => text);
  return Array.isArray(read) ? read : [];
}

const properties = (count: number, description: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`field${at}`, { type: 'string', description }]));

function describing(operations: number, responses = 1): string {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Large' } } };
  const operation = {
    responses: Object.fromEntries(Array.from({ length: responses }, (_, at) => [`${200 + at}`, { content }])),
  };
  return JSON.stringify({
    openapi: '3.1.0',
    paths: Object.fromEntries(Array.from({ length: operations }, (_, at) => [`/${at}`, { get: operation }])),
    components: { schemas: { Large: { type: 'object', properties: properties(200, 'word '.repeat(80)) } } },
  });
}

it('bounds the text of operations that share a schema', { tags: 'slow' }, () => {
  const operations = operationsOf(describing(1_500));
  expect(operations).toHaveLength(1_500);
  expect(operations[0]?.details).toContain('- `field199` (string): word');
  expect(operations.at(-1)).toMatchObject({ lead: 'Endpoint `GET /1499`', details: '' });
  expect(operations.reduce((sum, { details }) => sum + details.length, 0)).toBeLessThan(65e6);
});

it('bounds the text of one operation', () => {
  const [operation] = operationsOf(describing(1, 1_000));
  expect(operation?.details).toHaveLength(200_000);
});

it('reads the webhooks of version 3.1, with or without paths', async () => {
  const api = {
    openapi: '3.1.0',
    webhooks: {
      craneMoved: {
        post: {
          summary: 'A crane has moved',
          requestBody: {
            content: { 'application/json': { schema: { type: 'object', properties: { crane: { type: 'string' } } } } },
          },
          responses: { '200': { description: 'It was received.' } },
        },
      },
      craneStopped: { post: { description: 'Sent when a crane stops.' } },
    },
  };
  const [moved, stopped] = operationsOf(JSON.stringify(api));
  expect(moved).toMatchObject({ title: 'A crane has moved', slug: 'a-crane-has-moved' });
  expect(moved?.lead).toBe('Webhook `craneMoved` (POST)');
  expect(moved?.details).toContain('- `crane` (string)');
  expect(stopped).toMatchObject({ title: 'Webhook craneStopped', slug: 'webhook-cranestopped' });
  const files = [
    fileOf('api.json', JSON.stringify({ ...api, paths: { '/cranes': { get: { summary: 'List cranes' } } } })),
    fileOf('moved.mdx', '---\ntitle: Moved\nopenapi: webhook craneMoved\n---\n\nOurs.\n'),
  ];
  const pages = await readPages(files);
  expect(pages.map(({ path }) => path).toSorted()).toEqual(['api/list-cranes', 'api/webhook-cranestopped', 'moved']);
  expect(pages.find(({ path }) => path === 'moved')?.content).toContain('`crane`');
});

it('reads descriptions in several files, wherever they refer to each other', async () => {
  const files = [
    fileOf(
      'api/openapi.yaml',
      `openapi: 3.1.0
paths:
  /users:
    $ref: paths/users.yaml#/users
  /cranes:
    get:
      summary: List cranes
      responses: { '200': { $ref: './shared/responses.json#/Cranes' } }
  /away:
    $ref: https://example.com/away.yaml
components:
  schemas:
    Name: { type: object, properties: { first: { type: string } } }
`,
    ),
    fileOf(
      'api/paths/users.yaml',
      `users:
  post:
    summary: Create a user
    requestBody: { $ref: '#/body' }
    responses: {}
body:
  content: { application/json: { schema: { $ref: ../shared/user.yaml } } }
`,
    ),
    fileOf(
      'api/shared/user.yaml',
      `type: object
properties:
  name: { $ref: '../openapi.yaml#/components/schemas/Name' }
  friend: { $ref: 'user.yaml' }
`,
    ),
    fileOf(
      'api/shared/responses.json',
      JSON.stringify({
        Cranes: { description: 'The cranes', content: { 'application/json': { schema: { $ref: 'user.yaml' } } } },
      }),
    ),
  ];
  const contents = new Map((await readPages(files)).map(({ path, content }) => [path, content]));
  expect([...contents.keys()]).toEqual(['api/openapi/create-a-user', 'api/openapi/list-cranes']);
  for (const content of contents.values()) expect(content).toContain('- `name` (object)\n  - `first` (string)');
  expect(contents.get('api/openapi/list-cranes')).toContain('The cranes');
});

it('names descriptions that are malformed', async () => {
  const files = [
    fileOf('broken.yaml', 'openapi: 3.0.0\npaths:\n  /users: [\n'),
    fileOf('broken.json', '{ "swagger": "2.0", "paths": }'),
    fileOf('other.yaml', 'values: [\n'),
    fileOf('page.md', '# Page\n'),
  ];
  const { pages, report } = await collectPages<never>(files, { find: () => null });
  expect(pages.map(({ path }) => path)).toEqual(['page']);
  expect(report.skipped).toEqual(['broken.json', 'broken.yaml']);
});

it('says of a parameter what the operation says, and else what the path does', () => {
  const parameter = (name: string, type: string) => ({ name, in: 'path', schema: { type } });
  const get = { parameters: [parameter('id', 'integer')], responses: {} };
  const paths = { '/users/{id}/{part}': { parameters: [parameter('id', 'string'), parameter('part', 'string')], get } };
  const [operation] = operationsOf(JSON.stringify({ openapi: '3.0.0', paths }));
  expect(operation?.details).toBe('## Parameters\n\n- `id` (path, integer)\n- `part` (path, string)');
});
