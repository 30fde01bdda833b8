import { describe, expect, it } from 'vitest';
import {
  createdWebhookSchema,
  deliveryListSchema,
  deliverySchema,
  rotatedSecretSchema,
  webhookListSchema,
  webhookSchema,
} from '../../../api/webhooks/webhook-schemas.ts';
import { buildJob, buildKey, buildProject } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { comparable, serveApi, type AskOptions } from './serve.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool, { DOCKET_WEBHOOK_ALLOWED_HOSTS: '127.0.0.1:9' }));
const project = ofFile(() => buildProject(database.pool));
const admin = ofFile(() => buildKey(database.pool, project));

const url = 'https://hooks.example.com/docket';

function ask(path: string, request: AskOptions & { projectId?: string } = {}) {
  const { projectId = project.id, ...options } = request;
  return api.ask(`/v2/agent/${projectId}/webhooks${path}`, { key: admin.key, ...options });
}

async function made(json: object = {}) {
  const { status, body } = await ask('', { json: { url, ...json } });
  expect(status).toBe(201);
  return createdWebhookSchema.strict().parse(body);
}

describe('webhooks', () => {
  it('are created, listed, read, changed and deleted', async () => {
    const { secret, ...webhook } = await made({ description: 'Chat', eventTypes: ['job.failed', 'job.failed'] });
    expect(webhook).toMatchObject({
      url,
      description: 'Chat',
      eventTypes: ['job.failed'],
      enabled: true,
      disabledReason: null,
    });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);

    const listed = webhookListSchema.parse((await ask('')).body).webhooks;
    expect(listed).toContainEqual(webhook);
    const path = `/${webhook.id}`;
    expect(webhookSchema.strict().parse((await ask(path)).body)).toEqual(webhook);

    const json = { url: 'http://127.0.0.1:9/x', description: null, eventTypes: [], enabled: false };
    const changed = await ask(path, { method: 'PATCH', json });
    expect(webhookSchema.strict().parse(changed.body)).toMatchObject(json);
    expect((await ask(path, { method: 'PATCH', json: {} })).body).toMatchObject(json);

    expect((await ask(path, { method: 'DELETE' })).status).toBe(204);
    expect((await ask(path)).status).toBe(404);
    expect((await ask(path, { method: 'DELETE' })).status).toBe(404);
  });

  it('show their secret once, and accept one from the client', async () => {
    const own = `whsec_${Buffer.alloc(24, 3).toString('base64')}`;
    const { id, secret } = await made({ secret: own });
    expect(secret).toBe(own);
    const others = [
      await ask(`/${id}`),
      await ask(''),
      await ask(`/${id}`, { method: 'PATCH', json: { enabled: true } }),
    ];
    for (const { text } of others) expect(text).not.toContain('secret');
    expect(api.log()).not.toContain(own);
  });

  it('get a new secret, with or without a body', async () => {
    const { id, secret } = await made();
    const rotated = rotatedSecretSchema.strict().parse((await ask(`/${id}/secret`, { method: 'POST' })).body);
    expect(rotated.secret).not.toBe(secret);
    const hours = (Date.parse(rotated.previousValidUntil) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(23);
    const own = `whsec_${Buffer.alloc(64, 3).toString('base64')}`;
    const other = await made();
    expect((await ask(`/${other.id}/secret`, { json: { secret: own } })).body.secret).toBe(own);
  });

  it('keep a secret that receivers may still use, until its 24 hours are over', async () => {
    const { id } = await made();
    const { previousValidUntil } = (await ask(`/${id}/secret`, { method: 'POST' })).body;
    const secrets = 'select secret, previous_secret from webhook_endpoints where id = $1';
    const before = await database.pool.query(secrets, [id]);
    expect(await ask(`/${id}/secret`, { method: 'POST' })).toMatchObject({
      status: 409,
      body: {
        error: `Messages are signed with the previous secret, too, until ${previousValidUntil}. Rotate the secret after that, or create another webhook.`,
      },
    });
    expect((await database.pool.query(secrets, [id])).rows).toEqual(before.rows);
    await database.pool.query('update webhook_endpoints set previous_secret_until = now() where id = $1', [id]);
    expect((await ask(`/${id}/secret`, { method: 'POST' })).status).toBe(200);
  });

  it.each([
    [{}, 'url is missing.'],
    [{ url: null }, 'url must be a string.'],
    [
      { url: 'http://hooks.example.com' },
      'The url must be an https:// address, unless DOCKET_WEBHOOK_ALLOWED_HOSTS of the service names its host.',
    ],
    [
      { url: 'https://127.0.0.1/' },
      'The url resolves to a private address, which only DOCKET_WEBHOOK_ALLOWED_HOSTS of the service can allow.',
    ],
    [
      { url: 'http://127.0.0.1:10/' },
      'The url must be an https:// address, unless DOCKET_WEBHOOK_ALLOWED_HOSTS of the service names its host.',
    ],
    [{ url: 'https://me:secret@hooks.example.com/' }, 'The url must not contain a user name or password.'],
    [{ url, eventTypes: ['job.exploded'] }, /^eventTypes\[0\] must be one of job.created, /],
    [{ url, secret: 'whsec_short' }, 'secret must be whsec_ and 24 to 64 bytes in base64.'],
    [{ url, description: 'x'.repeat(501) }, 'description must have at most 500 characters.'],
    [[], 'The body must be an object.'],
  ])('are refused with 400 for %j', async (json, problem) => {
    const answer = await ask('', { json });
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body)).toEqual(['error']);
    expect(answer.body.error).toMatch(problem);
  });

  it('for Slack keep their URL secret and have no other secret', async () => {
    const slack = 'https://hooks.slack.com/services/T0/B0/XyZ';
    const { id, ...made } = (await ask('', { json: { format: 'slack', url: slack } })).body;
    expect(made).toMatchObject({ format: 'slack', url: 'https://hooks.slack.com/***', secret: null });
    const moved = await ask(`/${id}`, { method: 'PATCH', json: { url: `${slack}/further` } });
    expect(moved.body).toMatchObject({ format: 'slack', url: 'https://hooks.slack.com/***' });
    for (const answer of [moved, await ask(`/${id}`), await ask(''), await api.ask('/v1/audit', { key: admin.key })])
      expect(answer.text).not.toContain('XyZ');
    expect(api.log()).not.toContain('XyZ');
    const own = `whsec_${Buffer.alloc(24, 3).toString('base64')}`;
    const refused = [
      await ask(`/${id}/secret`, { method: 'POST' }),
      await ask('', { json: { format: 'slack', url: slack, secret: own } }),
    ];
    for (const { status, body } of refused)
      expect([status, body.error]).toEqual([400, 'A Slack webhook has no signing secret; its URL is the secret.']);
    expect((await ask('', { json: { format: 'slack', url: 'http://10.0.0.1/x' } })).status).toBe(400);
    const signed = await ask('', { json: { url } });
    for (const answer of [
      await ask('', { json: { url: slack } }),
      await ask(`/${signed.body.id}`, { method: 'PATCH', json: { url: slack } }),
    ]) {
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining('requires the format slack')]);
      expect(answer.text).not.toContain('XyZ');
    }
  });

  it('are refused with 409 at their limit', async () => {
    const other = await buildProject(database.pool, { organizationId: project.organizationId });
    const create = () => ask('', { projectId: other.id, json: { url } });
    for (let count = 0; count < 20; count += 1) expect((await create()).status).toBe(201);
    const refused = await create();
    expect([refused.status, refused.body]).toEqual([
      409,
      { error: 'A project has at most 20 webhooks; delete one first.' },
    ]);
  });
});

describe('deliveries', () => {
  it('are requested by a ping, listed in pages, and sent again', async () => {
    const { id } = await made({ eventTypes: ['job.created'] });
    const pinged = await ask(`/${id}/ping`, { method: 'POST' });
    expect(pinged.status).toBe(202);
    const ping = deliverySchema.strict().parse(pinged.body);
    expect(ping).toMatchObject({ type: 'webhook.ping', status: 'pending', jobId: null, attempts: [] });
    const job = await buildJob(database.pool, project);

    const first = deliveryListSchema.strict().parse((await ask(`/${id}/deliveries?limit=1`)).body);
    expect(first.deliveries).toMatchObject([{ type: 'job.created', jobId: job.id }]);
    const second = deliveryListSchema.parse((await ask(`/${id}/deliveries?limit=1&cursor=${first.nextCursor}`)).body);
    expect(second).toEqual({ deliveries: [ping], nextCursor: null });

    await database.pool.query(`update webhook_deliveries set status = 'failed', start_at = null where id = $1`, [
      ping.id,
    ]);
    const again = await ask(`/${id}/deliveries/${ping.id}/redeliver`, { method: 'POST' });
    expect([again.status, again.body]).toMatchObject([
      202,
      { id: ping.id, messageId: ping.messageId, status: 'pending' },
    ]);
  });

  it('are refused with 409 while the webhook is disabled', async () => {
    const { id } = await made();
    const ping = await ask(`/${id}/ping`, { method: 'POST' });
    await ask(`/${id}`, { method: 'PATCH', json: { enabled: false } });
    for (const path of [`/${id}/ping`, `/${id}/deliveries/${ping.body.id}/redeliver`]) {
      const refused = await ask(path, { method: 'POST' });
      expect([refused.status, refused.body]).toEqual([409, { error: 'The webhook is disabled; enable it first.' }]);
    }
  });

  it.each(['limit=0', 'limit=101', 'cursor=nonsense'])('refuse %s with 400', async (query) => {
    const { id } = await made();
    const answer = await ask(`/${id}/deliveries?${query}`);
    expect([answer.status, Object.keys(answer.body)]).toEqual([400, ['error']]);
  });
});

describe('keys and webhooks', () => {
  const requests = (id: string, deliveryId: string): [string, AskOptions][] => [
    ['', {}],
    ['', { json: { url } }],
    [`/${id}`, {}],
    [`/${id}`, { method: 'PATCH', json: {} }],
    [`/${id}`, { method: 'DELETE' }],
    [`/${id}/secret`, { method: 'POST' }],
    [`/${id}/ping`, { method: 'POST' }],
    [`/${id}/deliveries`, {}],
    [`/${id}/deliveries/${deliveryId}/redeliver`, { method: 'POST' }],
  ];

  it('a key of another organization gets the answer of a missing project, and changes nothing', async () => {
    const { pool } = database;
    const { id, secret: _secret, ...before } = await made();
    const delivery = (await ask(`/${id}/ping`, { method: 'POST' })).body.id;
    const foreign = (await buildKey(pool, await buildProject(pool))).key;
    const sibling = await buildProject(pool, { organizationId: project.organizationId });
    for (const [path, request] of requests(id, delivery)) {
      const theirs = await ask(path, { ...request, key: foreign });
      const missing = await ask(path, { ...request, key: foreign, projectId: 'prj_missing' });
      expect([path, theirs.status, comparable(theirs)]).toEqual([path, 404, comparable(missing)]);
      const assistant = (await buildKey(pool, { organizationId: project.organizationId, kind: 'assistant' })).key;
      expect((await ask(path, { ...request, key: assistant })).status).toBe(403);
      expect((await ask(path, { ...request, key: null })).status).toBe(401);
      // a webhook of another project of the same organization is not this project's
      if (path !== '') expect((await ask(path, { ...request, projectId: sibling.id })).status).toBe(404);
    }
    expect((await ask(`/${id}`)).body).toEqual({ id, ...before });
    const other = await made();
    expect((await ask(`/${other.id}/deliveries/${delivery}/redeliver`, { method: 'POST' })).status).toBe(404);
  });

  it('other methods answer 405', async () => {
    const answer = await ask('', { method: 'PUT', json: {} });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, expect.stringContaining('POST')]);
  });
});
