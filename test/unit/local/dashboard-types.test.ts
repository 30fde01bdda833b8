import { expect, it } from 'vitest';
import { z } from 'zod';
import { createOpenApi } from '../../../api/openapi/openapi.ts';
import type { Route } from '../../../api/http/define-route.ts';
import { typesOf } from '../../../local/dashboard-types.ts';

const route = (change: Partial<Route>): Route => ({
  method: 'get',
  path: '/x/{id}',
  summary: 'Returns an x.',
  key: 'none',
  responses: { 204: { description: 'Nothing.' } },
  ...change,
});
const linesOf = (routes: Record<string, Route>) =>
  typesOf(createOpenApi({ baseUrl: 'http://127.0.0.1', routes })).replaceAll(/\s+/g, ' ');

it('types each keyword of a schema as a client reads it', () => {
  const answer = z.object({
    text: z.string().meta({ description: 'Ends */ here.' }),
    count: z.int().nullable(),
    state: z.enum(['on', 'off']).optional(),
    kind: z.literal('a'),
    list: z.array(z.union([z.string(), z.boolean()])),
    byName: z.record(z.string(), z.number()),
    open: z.looseObject({ x: z.unknown() }),
  });
  const types = linesOf({
    getX: route({ responses: { 200: { description: 'An x.', content: { 'application/json': answer } } } }),
  });
  for (const line of [
    '/** Ends * / here. */ "text": string;',
    '"count": (number | null);',
    '"state"?: ("on" | "off");',
    '"kind": "a";',
    '"list": ((string | boolean))[];',
    '"byName": { [key: string]: number; };',
    '"open": { "x": unknown; [key: string]: unknown; };',
  ])
    expect(types).toContain(line);
});

it('distinguishes required from optional properties of a request', () => {
  const types = linesOf({
    changeX: route({
      method: 'patch',
      params: { id: z.string() },
      query: z.object({ limit: z.coerce.number().optional() }),
      body: z.object({ name: z.string(), draft: z.boolean().default(false) }),
    }),
    getX: route({}),
  });
  expect(types).toContain('"path": { "id": string; };');
  expect(types).toContain('"query"?: { "limit"?: number; };');
  expect(types).toContain(
    '"requestBody": { content: { "application/json": { "name": string; "draft"?: boolean; }; } };',
  );
  expect(types).toContain('patch: operations["changeX"];');
  expect(types).toContain(
    'requestBody?: never; responses: { 204: { headers: { [name: string]: unknown }; content?: never; };',
  );
});
