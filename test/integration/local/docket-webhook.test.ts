import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildProject } from '../../support/build.ts';
import { createTestCommands } from '../../support/commands.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const { docket, docketJson, printed } = createTestCommands(() => database);
const webhook = (line: string) => docket('webhook', ...line.split(' '));
const webhookJson = (line: string) => docketJson('webhook', ...line.split(' '));

describe('docket webhook', () => {
  it('creates a webhook, shows its secret once, pings it, lists what was sent, and deletes it', async () => {
    const of = `--project ${(await buildProject(database.pool)).id}`;
    const made = await webhookJson(
      `create ${of} --url http://127.0.0.1:9000/hook --event job.failed --event job.completed`,
    );
    expect(made).toMatchObject({
      secret: expect.stringMatching(/^whsec_/),
      eventTypes: ['job.failed', 'job.completed'],
    });
    const listed = await webhook(`list ${of}`);
    expect(listed).toMatch(
      new RegExp(`^${made.id} +http://127.0.0.1:9000/hook +job.failed, job.completed +enabled`, 'm'),
    );
    expect(listed).not.toContain('whsec_');

    const { delivery } = await webhookJson(`ping ${made.id} ${of}`);
    expect(await webhook(`deliveries ${made.id} ${of}`)).toMatch(
      new RegExp(`^${delivery} +webhook.ping +- +pending`, 'm'),
    );
    await database.pool.query(`update webhook_deliveries set status = 'failed' where id = $1`, [delivery]);
    await webhook(`redeliver ${made.id} ${delivery} ${of}`);
    expect(await webhookJson(`deliveries ${made.id} ${of}`)).toMatchObject([{ id: delivery, status: 'pending' }]);

    await webhook(`delete ${made.id} ${of}`);
    expect(await webhookJson(`list ${of}`)).toEqual([]);
  });

  it('says why a webhook is disabled, and enables it', async () => {
    const of = `--project ${(await buildProject(database.pool)).id}`;
    const { id } = await webhookJson(`create ${of} --url https://hooks.example.com`);
    await database.pool.query(`update webhook_endpoints set enabled = false, disabled_reason = 'Gone.' where id = $1`, [
      id,
    ]);
    expect(await webhook(`list ${of}`)).toContain('disabled: Gone.');
    await expect(webhook(`ping ${id} ${of}`)).rejects.toThrow('docket webhook enable');
    expect(await webhookJson(`enable ${id} ${of}`)).toMatchObject({ enabled: true, disabledReason: null });
    await webhook(`ping ${id} ${of}`);
  });

  it.each([
    ['create --project PROJECT --url http://hooks.example.com', 'The url must be an https:// address.'],
    ['create --project PROJECT --url https://10.0.0.1', 'The url leads to a private address.'],
    ['create --project PROJECT --url https://hooks.example.com --event all', '--event must be one of job.created'],
    ['create --project prj_none --url https://hooks.example.com', 'There is no project "prj_none"'],
    ['list --project prj_none', 'There is no project "prj_none"'],
    ['ping whk_none --project PROJECT', 'There is no webhook "whk_none"'],
    ['enable whk_none --project PROJECT', 'There is no webhook "whk_none"'],
    ['delete whk_none --project PROJECT', 'There is no webhook "whk_none"'],
    ['deliveries whk_none --project PROJECT', 'There is no webhook "whk_none"'],
  ])('refuses %s', async (line, words) => {
    const { id } = await buildProject(database.pool);
    await expect(webhook(line.replace('PROJECT', id))).rejects.toThrow(words);
    expect(printed()).toEqual([]);
  });
});
