import { expect, it } from 'vitest';
import { buildIndexedSite } from '../../assistant/site.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { readerRequests } from './reader-requests.ts';
import { serveApi } from '../serve.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));
const docs = ofFile(() => buildIndexedSite(database.pool));
/** The endpoints that take a reader token, as patterns of their paths. */
async function tokenRoutes(): Promise<{ name: string; method: string; pattern: RegExp }[]> {
  const { paths } = (await (await fetch(`${api.url}/openapi.json`)).json()) as { paths: Record<string, object> };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { parameters = [] }]) => parameters.some(({ name }: { name: string }) => name === 'X-Reader-Token'))
      .map(([method]) => ({
        name: `${method} ${path}`,
        method: method.toUpperCase(),
        pattern: new RegExp(`^${path.replace('{path}', '(?!llms).+').replace('{domain}', '[^/]+')}$`),
      })),
  );
}

it('every response of an endpoint that takes a reader token varies on it', async () => {
  const routes = await tokenRoutes();
  const requests = readerRequests(docs.site.domain);
  const asked = new Set<string>();
  for (const { name, method, pattern } of routes) {
    for (const [, path, json] of requests.filter((request) => request[0] === method && pattern.test(request[1]))) {
      asked.add(name);
      const send = async (headers: Record<string, string>, key = docs.assistantKey) => {
        const answer = await api.ask(path, { method, key, headers, json });
        const fields = (answer.headers.get('vary') ?? '').toLowerCase().split(/,\s*/);
        expect([name, answer.status, fields]).toEqual([
          name,
          answer.status,
          expect.arrayContaining(['x-reader-token', ...(headers['Origin'] === undefined ? [] : ['origin'])]),
        ]);
        return answer.status;
      };
      const statuses = [
        await send({}),
        await send({ Origin: 'https://docs.example.com', Accept: 'text/event-stream' }),
        await send({ 'X-Reader-Token': 'forged' }),
        await send({}, 'svc_dsc_unknown'),
      ];
      expect([name, statuses]).toEqual([name, [200, 200, 401, 401]]);
    }
  }
  expect([...asked].toSorted()).toEqual(routes.map(({ name }) => name).toSorted());
  expect(asked.size).toBeGreaterThanOrEqual(9);
});

it('every response of a resumed reply varies on its secret', async () => {
  const resumed = readerRequests(docs.site.domain).filter(([, path]) => path.endsWith('/stream'));
  expect(resumed).toHaveLength(4);
  for (const [method, path] of resumed) {
    const { status, headers } = await api.ask(path, { method, key: docs.assistantKey });
    expect([path, status, headers.get('vary')?.toLowerCase()]).toEqual([
      path,
      204,
      expect.stringContaining('x-resume-token'),
    ]);
  }
});

it('every response to a reader varies on what the request was counted and refused by', async () => {
  await using limited = await serveApi(database.pool, { DOCKET_ASSISTANT_PER_HOUR: '1' });
  const { site, assistantKey: key } = await buildIndexedSite(database.pool);
  const requests = readerRequests(site.domain);
  const statuses = new Set<number>();
  for (const [method, path, json] of [['POST', '/discovery/v1/challenge', {}] as const, ...requests, ...requests]) {
    const { status, headers } = await limited.ask(path, { method, key, json });
    statuses.add(status);
    const fields = (headers.get('vary') ?? '').toLowerCase().split(/,\s*/);
    const wanted = path.endsWith('challenge') ? [] : ['x-reader-token', 'x-proof-of-work'];
    expect([method, path, status, fields]).toEqual([method, path, status, expect.arrayContaining(wanted)]);
    expect(fields).toHaveLength(new Set(fields).size);
  }
  expect([...statuses]).toEqual([200, 429]);
});
