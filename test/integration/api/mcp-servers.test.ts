import { expect, it } from 'vitest';
import { createProjectToolReader } from '../../../db/for-worker/projects/project-tools.ts';
import { createSealedValueStore } from '../../../db/organizations/sealed-values.ts';
import { createSecretBox } from '../../../lib/encryption/secret-box.ts';
import { buildKey, buildProject } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { testKeys, testKeysText } from '../../support/database/encryption.ts';
import { serveApi } from './serve.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool, { DOCKET_ENCRYPTION_KEYS: testKeysText('k1') }));

const box = createSecretBox(testKeys('k1'));
const docs = { name: 'docs', url: 'https://mcp.example.com/mcp' };
const tracker = { name: 'tracker', command: ['npx', '-y', '@example/tracker-mcp'] };
const env = [{ name: 'TOKEN', value: 'canary-of-command-0123' }];
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
  const shown = {
    ...docs,
    command: null,
    tools: null,
    readOnly: 'annotated',
    headerNames: ['Authorization'],
    envNames: [],
  };
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

it('stores the environment variables of a command encrypted, and keeps them for that command only', async () => {
  const project = await buildProject(database.pool);
  const { key } = await buildKey(database.pool, project);
  const path = `/v1/projects/${project.id}/mcp-servers`;
  const change = async (servers: unknown[]) => {
    const { status, text, body } = await api.ask(path, { key, method: 'PATCH', json: { servers } });
    expect([status, text]).toEqual([200, expect.not.stringContaining('canary')]);
    return body.servers;
  };
  const stored = async () => (await createProjectToolReader(database.pool, box).read(project.id)).credentials;
  const shown = { ...tracker, url: null, tools: null, readOnly: 'annotated', headerNames: [], envNames: ['TOKEN'] };
  expect(await change([docs, { ...tracker, env }])).toMatchObject([docs, shown]);
  const { rows } = await database.pool.query(`select text from (
    select project_tools::text as text from project_tools union all select audit_entries::text from audit_entries) as all_rows`);
  expect(JSON.stringify(rows)).not.toContain('canary');
  expect(JSON.stringify(rows)).toContain('tracker-mcp');
  expect(await change([{ ...tracker, tools: ['search'] }])).toEqual([{ ...shown, tools: ['search'] }]);
  expect((await api.ask(path, { key })).body.servers).toEqual([{ ...shown, tools: ['search'] }]);
  expect(await stored()).toEqual({ tracker: env });
  expect(await change([{ ...tracker, command: ['sh', '-c', 'echo $TOKEN'] }])).toMatchObject([{ envNames: [] }]);
  expect(await stored()).toEqual({});
  await change([{ ...tracker, env }]);
  expect(await change([{ ...docs, name: 'tracker' }])).toMatchObject([{ headerNames: [], envNames: [] }]);
});

it('reads servers that were stored before they could run as a command', async () => {
  const project = await buildProject(database.pool);
  const { key } = await buildKey(database.pool, project);
  const old = { ...docs, tools: null, readOnly: 'annotated', headerNames: [] };
  await database.pool.query('insert into project_tools (project_id, servers) values ($1, $2)', [
    project.id,
    JSON.stringify([old]),
  ]);
  const { body } = await api.ask(`/v1/projects/${project.id}/mcp-servers`, { key });
  expect(body.servers).toEqual([{ ...old, command: null, envNames: [] }]);
});

it.each([
  [[{ name: 'docs' }], 'either a url or a command'],
  [[{ ...docs, command: ['x'] }], 'either a url or a command'],
  [[{ ...docs, env }], 'an env, which needs a command'],
  [[{ ...tracker, headers }], 'headers, which need a url'],
  [[{ ...tracker, command: [] }], 'servers[0].command'],
  [[{ ...tracker, command: ['a\0b'] }], 'NUL'],
  [[{ ...tracker, env: [{ name: 'LD_PRELOAD', value: '/tmp/x.so' }] }], 'neither the sandbox nor the shell sets'],
  [[{ ...tracker, env: [{ name: 'A', value: 'short' }] }], 'at least 6 characters'],
  [Array.from({ length: 5 }, (_, at) => ({ ...tracker, name: `s${at}` })), 'at most 4 that run as a command'],
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
