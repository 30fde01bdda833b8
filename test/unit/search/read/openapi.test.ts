import { expect, it } from 'vitest';
import { readOperations } from '../../../../search/read/openapi.ts';

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
  const operations = readOperations(describing(1_500)) ?? [];
  expect(operations).toHaveLength(1_500);
  expect(operations[0]?.details).toContain('- `field199` (string): word');
  expect(operations.at(-1)).toMatchObject({ lead: 'Endpoint `GET /1499`', details: '' });
  expect(operations.reduce((sum, { details }) => sum + details.length, 0)).toBeLessThan(65e6);
});

it('bounds the text of one operation', () => {
  const [operation] = readOperations(describing(1, 1_000)) ?? [];
  expect(operation?.details).toHaveLength(200_000);
});
