import { afterAll, beforeAll, expect, it } from 'vitest';
import { createProjectToolReader } from '../../../db/for-worker/projects/project-tools.ts';
import { createSealedValueStore } from '../../../db/organizations/sealed-values.ts';
import { createSecretBox } from '../../../lib/encryption/secret-box.ts';
import { buildKey, buildProject } from '../../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { testKeys, testKeysText } from '../../support/encryption.ts';
import { serveApi, type ServedApi } from './serve.ts';

let database: TestDatabase;
let api: ServedApi;
beforeAll(async () => {
  database = await createTestDatabase();
  api = await serveApi(database.pool, { DOCKET_ENCRYPTION_KEYS: testKeysText('k1') });
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

const box = createSecretBox(testKeys('k1'));
const docs = { name: 'docs', url: 'https://mcp.example.com/mcp' };
const headers = [{ name: 'Authorization', value: 'Bearer canary-of-server-0123' }];

it('stores the headers of a server encrypted, and keeps them for its address only', async () => {
  const project = await buildProject(database.pool);
  const { key } = await buildKey(database.pool, project);
  const path = `/v1/projects/${project.id}/mcp-servers`;
  const change = async (servers: unknown[]) => {
    const { status, text, body } = await api.ask(path, { key, method: 'PATCH', json: { servers } });
    expect([status, text]).toEqual([200, expect.not.stringContaining('canary')]);
    return body.servers;
  };
  const stored = () => createProjectToolReader(database.pool, box).read(project.id);
  expect((await api.ask(path, { key })).body).toEqual({ servers: [] });
  const shown = { ...docs, tools: null, readOnly: 'annotated', headerNames: ['Authorization'] };
  expect(await change([{ ...docs, headers }])).toEqual([shown]);
  const { rows } = await database.pool.query(`select text from (
    select project_tools::text as text from project_tools union all select audit_entries::text from audit_entries) as all_rows`);
  expect(JSON.stringify(rows)).not.toContain('canary');
  expect(rows[0].text).toContain('enc:v1:k1:');

  expect(await change([{ ...docs, tools: ['search'], readOnly: 'none' }])).toEqual([
    { ...shown, tools: ['search'], readOnly: 'none' },
  ]);
  expect((await stored()).credentials).toEqual({ docs: headers });
  // re-encryption covers them
  const [newer, older] = [testKeys('k2'), testKeys('k1')];
  const rotated = createSecretBox([...newer, ...older]);
  expect(await createSealedValueStore(database.pool, rotated).reseal()).toBe(1);
  expect((await createProjectToolReader(database.pool, rotated).read(project.id)).credentials).toEqual({
    docs: headers,
  });
  await createSealedValueStore(database.pool, createSecretBox([...older, ...newer])).reseal();

  // a credential goes to no other address than the one it was entered for
  expect(await change([{ ...docs, url: 'https://evil.example.com/mcp' }])).toMatchObject([{ headerNames: [] }]);
  expect((await stored()).credentials).toEqual({});
});

it.each([
  [[{ ...docs, name: 'Docs' }], 'servers[0].name'],
  [[docs, docs], 'different names'],
  [[{ ...docs, url: 'ftp://mcp.example.com/' }], 'http:// or https://'],
  [[{ ...docs, url: 'https://user:secret@mcp.example.com/' }], 'without a user name'],
  [[{ ...docs, headers: [{ name: 'Host', value: 'evil.example' }] }], 'must not be a header of the connection'],
  [[{ ...docs, headers: [{ name: 'X', value: 'a\r\nHost: evil' }] }], 'ASCII characters'],
  [[{ ...docs, tools: ['a b'] }], 'name of a tool'],
  [Array.from({ length: 11 }, (_, at) => ({ ...docs, name: `s${at}` })), '10'],
])('refuses %j', async (servers, problem) => {
  const project = await buildProject(database.pool);
  const { key } = await buildKey(database.pool, project);
  const { status, body } = await api.ask(`/v1/projects/${project.id}/mcp-servers`, {
    key,
    method: 'PATCH',
    json: { servers },
  });
  expect([status, body.error]).toEqual([400, expect.stringContaining(problem)]);
});
