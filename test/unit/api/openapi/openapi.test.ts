import { expect, it } from 'vitest';
import type { Route } from '../../../../api/http/define-route.ts';
import { createOpenApi } from '../../../../api/openapi/openapi.ts';
import { routes } from '../../../../api/openapi/routes.ts';

it('describes the job endpoints from their validators', () => {
  const document: any = JSON.parse(JSON.stringify(createOpenApi({ baseUrl: 'https://docket.example.com', routes })));
  expect(document.openapi).toBe('3.1.0');
  expect(document.info.version).toBe('2.0.0');
  expect(document.servers).toEqual([{ url: 'https://docket.example.com' }]);
  const { get } = document.paths['/v2/agent/{projectId}/job/{id}'];
  const job = get.responses['200'].content['application/json'].schema;
  expect(job.required).toEqual(
    expect.arrayContaining(['id', 'status', 'source', 'model', 'prLink', 'createdAt', 'archivedAt']),
  );
  expect(job.properties.status.enum).toEqual(['active', 'completed', 'archived', 'failed']);
  expect(job.properties.prLink.anyOf ?? job.properties.prLink.type).toBeDefined();
  const { post } = document.paths['/v2/agent/{projectId}/job'];
  const body = post.requestBody.content['application/json'].schema;
  expect(body.required).toEqual(['prompt']);
  expect(body.properties.prompt).toMatchObject({ type: 'string', minLength: 1, maxLength: 100_000 });
  const operations = Object.values(document.paths).flatMap((path: any) => Object.values(path));
  for (const operation of operations as any[]) expect(operation.operationId).toMatch(/^[a-z]/);
  expect(JSON.stringify(document)).not.toContain('$schema');
});

it('has valid examples of the main requests', () => {
  const withExamples = Object.entries<Route>(routes).filter(([, { example }]) => example !== undefined);
  for (const [id, { body, example }] of withExamples)
    expect([id, body?.safeParse(example).error]).toEqual([id, undefined]);
  const document: any = createOpenApi({ baseUrl: 'https://docket.example.com', routes });
  const { requestBody } = document.paths['/v2/agent/{projectId}/job'].post;
  expect(requestBody.content['application/json'].example).toBe(routes.createAgentJob.example);
  expect(withExamples.map(([id]) => id).sort()).toEqual([
    'createAgentJob',
    'createAssistantMessageV1',
    'createAssistantMessageV2',
    'createKey',
    'createProject',
    'createSite',
    'searchDocumentation',
    'sendAgentJobMessage',
  ]);
});

it('says what each field of a question means, but one that only the AI SDK sends', () => {
  const document: any = JSON.parse(JSON.stringify(createOpenApi({ baseUrl: 'https://docket.example.com', routes })));
  const { post } = document.paths['/discovery/v2/assistant/{domain}/message'];
  const fields: [string, any][] = Object.entries(post.requestBody.content['application/json'].schema.properties);
  expect(fields.filter(([, { description }]) => description === undefined).map(([name]) => name)).toEqual(['trigger']);
});
