import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, it, vi } from 'vitest';
import { operatorOf } from '../../../db/caller.ts';
import { createProjectCredentialReader } from '../../../db/for-worker/projects/projects.ts';
import { createSealedValueStore } from '../../../db/organizations/sealed-values.ts';
import { createWebhookStore } from '../../../db/webhooks/webhook-endpoints.ts';
import { createDataConverter } from '../../../lib/encryption/data-converter.ts';
import type { EncryptionKey } from '../../../lib/encryption/keys.ts';
import { createSecretBox } from '../../../lib/encryption/secret-box.ts';
import { jobTaskQueue, jobWorkflowName, refreshSiteScheduleId } from '../../../workflows/contract/messages.ts';
import { readTemporalSettings } from '../../../lib/temporal/temporal-credentials.ts';
import { buildProject, buildSite, changeProject } from '../../support/database/build.ts';
import { createTestCommands } from '../../support/sandbox/commands.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { readableDatabase, testKeys } from '../../support/database/encryption.ts';
import { createTestNamespace } from '../../support/sandbox/namespace.ts';

let database: TestDatabase;
let connection: Connection;
let namespace: string;
beforeAll(async () => {
  database = await createTestDatabase();
  connection = await Connection.connect({ address: inject('temporalAddress') });
  namespace = await createTestNamespace(connection);
});
afterAll(async () => {
  await connection.close();
  await database[Symbol.asyncDispose]();
});

let said: string[] = [];
beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation((line: string) => said.push(line));
});
afterEach(() => vi.restoreAllMocks());

interface RotatedKey {
  id: string;
  values: number;
  schedules: number;
  openExecutions: number;
  state: string;
}

/** The token of a project, opened with one key. */
async function tokenOf(projectId: string, key: string, { pool } = database): Promise<string | null | undefined> {
  return (await createProjectCredentialReader(pool, boxOf(key)).read(projectId))?.token();
}

/** Runs the command with a list of keys; returns the state of each key by its id. */
const rotate = (keys: string[], address?: string) => rotateWith(testKeys(...keys), address);

async function rotateWith(encryptionKeys: EncryptionKey[], address = inject('temporalAddress')) {
  said = [];
  const temporal = readTemporalSettings({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace });
  const { docketJson } = createTestCommands(() => ({ database, operator: { encryptionKeys, temporal } }));
  const rows: RotatedKey[] = await docketJson('encryption', 'rotate');
  return Object.fromEntries(rows.map(({ id, ...row }) => [id, row]));
}

const boxOf = (...keys: string[]) => createSecretBox(testKeys(...keys));
const clientOf = (...keys: string[]) =>
  new Client({ connection, namespace, dataConverter: createDataConverter(testKeys(...keys)) });

it('encrypts every secret and schedule under the first key, and reports when an older key can be removed', async () => {
  const [k1, k2] = [`k1-${randomUUID().slice(0, 8)}`, `k2-${randomUUID().slice(0, 8)}`];
  const projects = await Promise.all(Array.from({ length: 7 }, () => buildProject(database.pool)));
  const ids = projects.map(({ id }) => id);
  const write = async (key: string[], id: string) =>
    changeProject(database.pool, id, { forgeToken: `token-of-${id}` }, boxOf(...key));
  for (const id of ids.slice(0, 5)) await write([k1], id);
  await write([], ids[5]!);
  const webhooks = createWebhookStore(database.pool, boxOf(k1));
  const operator = operatorOf(projects[0]!);
  const made = await webhooks.create(operator, ids[0]!, {
    url: 'https://a.example/',
    description: null,
    eventTypes: [],
  });
  if (typeof made === 'string') throw new Error(made);
  await webhooks.rotateSecret(operator, made.webhook, { overlapMs: 60_000 });
  const site = await buildSite(database.pool);
  const action = { type: 'startWorkflow' as const, workflowType: 'refreshSite', taskQueue: randomUUID() };
  const schedule = await clientOf(k1).schedule.create({
    scheduleId: refreshSiteScheduleId(site.id),
    spec: { intervals: [{ every: '30d' }] },
    action: { ...action, args: [{ siteId: site.id }] },
  });
  const open = await clientOf(k1).workflow.start(jobWorkflowName, {
    workflowId: `agent-job/${randomUUID()}`,
    taskQueue: `${jobTaskQueue}-${randomUUID()}`,
    args: [{ jobId: 'job_1', turn: 1 }],
  });
  try {
    await expect
      .poll(async () => (await rotate([k2, k1]))[k1], { timeout: 60_000 })
      .toEqual({ values: 0, schedules: 0, openExecutions: 1, state: 'needed' });
    const again = await rotate([k2, k1]);
    expect(again[k2]).toEqual({ values: 8, schedules: 1, openExecutions: 0, state: 'encrypts' });
    expect(said).toEqual(['Re-encrypted: 0 secrets, 0 schedules.']);

    const readable = await readableDatabase(database.pool);
    for (const words of [`enc:v1:${k1}`, 'token-of-', made.secret]) expect(readable).not.toContain(words);
    expect(await Promise.all(ids.map((id) => tokenOf(id, k2)))).toEqual([
      ...ids.slice(0, 6).map((id) => `token-of-${id}`),
      null,
    ]);
    const described = await clientOf(k2).schedule.getHandle(schedule.scheduleId).describe();
    expect(described.action).toMatchObject({ workflowType: 'refreshSite', args: [{ siteId: site.id }] });

    await open.terminate();
    await expect
      .poll(async () => (await rotate([k2, k1]))[k1]?.state, { timeout: 60_000 })
      .toBe('can be removed, once every process has the new list');
  } finally {
    await open.terminate().catch(() => undefined);
    await schedule.delete();
  }
});

it('leaves what it cannot decrypt, and names the missing key', async () => {
  const { id } = await buildProject(database.pool);
  await changeProject(database.pool, id, { forgeToken: 'token' }, boxOf('lost'));
  const states = await rotate(['k9']);
  expect(states['lost']).toMatchObject({ values: 1, state: 'needed and missing: add it to DOCKET_ENCRYPTION_KEYS' });
  expect(await tokenOf(id, 'lost')).toBe('token');
  await rotate(['k9', 'lost']);
  expect(await tokenOf(id, 'k9')).toBe('token');
});

it('leaves what a key with a different value cannot decrypt, and says so', async () => {
  const { id } = await buildProject(database.pool);
  await changeProject(database.pool, id, { forgeToken: 'token' }, boxOf('mistaken'));
  const [other] = testKeys('other');
  const mistaken = { ...other!, id: 'mistaken' };
  const states = await rotateWith([...testKeys('k9'), mistaken]);
  expect(states['mistaken']).toMatchObject({
    values: 1,
    state: expect.stringMatching(/^needed with an earlier value/),
  });
  await expect(rotateWith([mistaken, ...testKeys('k9')])).rejects.toThrow(
    'The value of the key "mistaken" in DOCKET_ENCRYPTION_KEYS does not decrypt 1 stored secrets',
  );
  expect(await tokenOf(id, 'mistaken')).toBe('token');
  await rotate(['k9', 'mistaken']);
});

it('does what it can while Temporal is down, and reports what is unknown', { tags: 'slow' }, async () => {
  const states = await rotate(['k9'], '127.0.0.1:1');
  expect(states['k9']).toMatchObject({ openExecutions: null, state: 'encrypts' });
  expect(said).toContain('Temporal does not respond, so the keys that it needs are unknown. Run this again.');
});

it('refuses to rotate without a key', async () => {
  await expect(rotate([])).rejects.toThrow('DOCKET_ENCRYPTION_KEYS is not set, so there is no key to encrypt with.');
});

it('encrypts each value once in two simultaneous runs, and keeps one that changes meanwhile', async () => {
  await using own = await createTestDatabase();
  const projects = await Promise.all(Array.from({ length: 20 }, () => buildProject(own.pool)));
  for (const { id } of projects) await changeProject(own.pool, id, { forgeToken: id }, boxOf('ka'));
  const [first] = projects;
  const rotation = () => createSealedValueStore(own.pool, boxOf('kb', 'ka')).reseal({ batch: 3 });
  const [one, other] = await Promise.all([
    rotation(),
    rotation(),
    changeProject(own.pool, first!.id, { forgeToken: 'new' }, boxOf('kb')),
  ]);
  expect([19, 20]).toContain(one + other);
  expect(await tokenOf(first!.id, 'kb', own)).toBe('new');
  for (const { id } of projects.slice(1)) expect(await tokenOf(id, 'kb', own)).toBe(id);
});
