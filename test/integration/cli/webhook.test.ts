import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildProject } from '../../support/database/build.ts';
import { serveCommands, type ServedCommands } from './served.ts';

let served: ServedCommands;
beforeAll(async () => void (served = await serveCommands()));
afterAll(() => served[Symbol.asyncDispose]());

const webhook = (line: string) => served.docket('webhook', ...line.split(' '));
const webhookJson = (line: string) => served.docketJson('webhook', ...line.split(' '));
const newProject = async () => buildProject(served.database.pool, { organizationId: await served.act() });

describe('docket webhook', () => {
  it('creates a webhook, shows its secret once, pings it, lists its deliveries, and deletes it', async () => {
    const of = `--project ${(await newProject()).id}`;
    const made = await webhookJson(`create ${of} http://127.0.0.1:9000/hook --event job.failed --event job.completed`);
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
    await served.database.pool.query(`update webhook_deliveries set status = 'failed' where id = $1`, [delivery]);
    await webhook(`redeliver ${made.id} ${delivery} ${of}`);
    expect(await webhookJson(`deliveries ${made.id} ${of}`)).toMatchObject([{ id: delivery, status: 'pending' }]);

    await webhook(`delete ${made.id} ${of}`);
    expect(await webhookJson(`list ${of}`)).toEqual([]);
  });

  it('creates a webhook for Slack, whose address is not shown again', async () => {
    const of = `--project ${(await newProject()).id}`;
    const made = await webhookJson(`create ${of} https://hooks.slack.com/services/T0/B0/XyZ --slack`);
    expect(made).toMatchObject({ format: 'slack', url: 'https://hooks.slack.com/***', secret: null });
    expect(await webhook(`list ${of}`)).toMatch(/hooks\.slack\.com\/\*\*\* +all +enabled +slack/);
  });

  it('says why a webhook is disabled, and enables it', async () => {
    const of = `--project ${(await newProject()).id}`;
    const { id } = await webhookJson(`create ${of} https://hooks.example.com`);
    await served.database.pool.query(
      `update webhook_endpoints set enabled = false, disabled_reason = 'Gone.' where id = $1`,
      [id],
    );
    expect(await webhook(`list ${of}`)).toContain('disabled: Gone.');
    await expect(webhook(`ping ${id} ${of}`)).rejects.toThrow(/disabled/);
    expect(await webhookJson(`enable ${id} ${of}`)).toMatchObject({ enabled: true, disabledReason: null });
    await webhook(`ping ${id} ${of}`);
  });

  it.each([
    [
      'create --project PROJECT http://hooks.example.com',
      'The url must be an https:// address, unless DOCKET_WEBHOOK_ALLOWED_HOSTS of the service names its host.',
    ],
    [
      'create --project PROJECT https://10.0.0.1',
      'The url resolves to a private address, which only DOCKET_WEBHOOK_ALLOWED_HOSTS of the service can allow.',
    ],
    ['create --project PROJECT https://hooks.example.com --event all', 'eventTypes'],
    ['create --project prj_none https://hooks.example.com', 'The project was not found'],
    ['list --project prj_none', 'The project was not found'],
    ['ping whk_none --project PROJECT', 'The webhook was not found'],
    ['enable whk_none --project PROJECT', 'The webhook was not found'],
    ['delete whk_none --project PROJECT', 'The webhook was not found'],
    ['deliveries whk_none --project PROJECT', 'The webhook was not found'],
  ])('refuses %s', async (line, words) => {
    const { id } = await newProject();
    await expect(webhook(line.replace('PROJECT', id))).rejects.toThrow(words);
    expect(served.printed()).toEqual([]);
  });
});
