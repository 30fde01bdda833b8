import { afterAll, beforeAll, expect, it } from 'vitest';
import { operatorOf, type SiteRef } from '../../../db/caller.ts';
import { createConversationStore } from '../../../db/conversations.ts';
import { createEmptySearchStore } from '../../../db/empty-searches.ts';
import { createGapStore } from '../../../db/gaps.ts';
import { createKeyStore } from '../../../db/keys.ts';
import { createSessionLookup } from '../../../db/service/session-lookup.ts';
import { createSessionStore } from '../../../db/sessions.ts';
import { createThreadStore } from '../../../db/threads.ts';
import { createWebhookDeliveryStore } from '../../../db/webhook-deliveries.ts';
import { createWebhookStore } from '../../../db/webhook-endpoints.ts';
import { createSecretBox } from '../../../encryption/secret-box.ts';
import { buildKey, buildProject } from '../../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { newJob, seedSite } from './seed.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

// The routes look a project or site up before they ask these: nothing but the SQL of each is in the way here.

it('shows and changes the webhooks of an organization to itself only', async () => {
  const { pool } = database;
  const [webhooks, deliveries] = [createWebhookStore(pool, createSecretBox([])), createWebhookDeliveryStore(pool)];
  const project = await buildProject(pool);
  const [own, other] = [operatorOf(project), operatorOf(await buildProject(pool))];
  const wanted = { url: 'https://a.example', description: null, eventTypes: [] };
  const made = await webhooks.create(own, project.id, wanted);
  if (typeof made === 'string') throw new Error(made);
  const { webhook } = made;
  const delivery = (await webhooks.ping(own, webhook))!;
  const before = await pool.query('select * from webhook_endpoints, webhook_deliveries');

  expect(await webhooks.create(other, project.id, wanted)).toBe('no-project');
  expect(await webhooks.list(other, project.id)).toEqual([]);
  expect(await webhooks.find(other, webhook)).toBeNull();
  expect(await webhooks.update(other, webhook, { url: 'https://evil.example' })).toBeNull();
  expect(await webhooks.rotateSecret(other, webhook, { overlapMs: 0 })).toBeNull();
  expect(await webhooks.ping(other, webhook)).toBeNull();
  expect(await webhooks.remove(other, webhook)).toBe(false);
  expect((await deliveries.list(other, webhook, { limit: 10 })).deliveries).toEqual([]);
  expect(await deliveries.find(other, webhook, delivery)).toBeNull();
  expect(await deliveries.redeliver(other, webhook, delivery)).toBe(false);
  expect((await pool.query('select * from webhook_endpoints, webhook_deliveries')).rows).toEqual(before.rows);
  expect((await deliveries.list(own, webhook, { limit: 10 })).deliveries).toHaveLength(1);
});

it('shows and changes what readers left on a site to its organization only', async () => {
  const { pool } = database;
  const [threads, conversations] = [createThreadStore(pool), createConversationStore(pool)];
  const [searches, gaps] = [createEmptySearchStore(pool), createGapStore(pool)];
  const [site, elsewhere] = [await seedSite(pool), await seedSite(pool)];
  const foreign: SiteRef = { id: site.id, organizationId: elsewhere.organizationId };
  const answer = { id: 'msg_a', content: 'No.', sources: [], model: 'm', answered: false, durationMs: 1 };
  await threads.recordTurn(site, {
    threadId: 'thr_owned',
    fp: 'anonymous',
    question: { id: 'msg_q', content: 'How?', currentPath: null },
    answer: { ...answer, ending: 'finished', firstTokenMs: null },
  });
  await searches.count(site, 'heron');
  const question = { key: 'how', text: 'How?', count: 1, lastAskedAt: new Date() };
  const gap = { siteId: site.id, id: 'gap_owned', label: 'How?', questions: [question] };
  await gaps.recheck(operatorOf(site), gap);

  expect((await conversations.list(foreign, { limit: 10 })).conversations).toEqual([]);
  expect(await conversations.listUnanswered(foreign, 10)).toEqual([]);
  const rated = {
    threadId: 'thr_owned',
    messageId: 'msg_a',
    feedback: { vote: 'up' as const, reasons: [], comment: null },
  };
  expect(await conversations.rate(foreign, rated)).toBe(false);
  expect(await searches.list(foreign, { days: 1, limit: 10 })).toEqual([]);
  await searches.count(foreign, 'crane');
  expect(await gaps.list(foreign, 10)).toEqual([]);
  expect(await gaps.find(foreign, gap.id)).toBeNull();
  await pool.query('update sites set index_requested_at = null');
  await gaps.recheck(operatorOf(foreign), gap);
  const theirs = await buildProject(pool, { organizationId: foreign.organizationId });
  const job = newJob({ projectId: theirs.id });
  expect(await gaps.begin(operatorOf(foreign), gap, { number: 1, job })).toBeNull();
  const { rows } = await pool.query(
    'select count(*)::integer as asked from sites where index_requested_at is not null',
  );
  expect(rows).toEqual([{ asked: 0 }]);

  expect((await conversations.list(site, { limit: 10 })).conversations).toMatchObject([{ up: 0, unanswered: 1 }]);
  expect(await conversations.listUnanswered(site, 10)).toHaveLength(1);
  expect((await searches.list(site, { days: 1, limit: 10 })).map(({ query }) => query)).toEqual(['heron']);
  expect(await gaps.list(site, 10)).toMatchObject([{ id: gap.id, attempt: 0, job: null }]);
});

it('opens, links and ends sessions of its own organization only', async () => {
  const { pool } = database;
  const [sessions, lookup] = [createSessionStore(pool, 'pepper'), createSessionLookup(pool, 'pepper')];
  const project = await buildProject(pool);
  const { row } = await buildKey(pool, project);
  const [own, other] = [operatorOf(project), operatorOf(await buildProject(pool))];
  const session = (await sessions.open({ ...own, keyId: row.id }))!;
  expect(await sessions.open({ ...other, keyId: row.id })).toBeNull();
  await expect(sessions.createLink(other, { keyId: row.id })).rejects.toThrow('a valid admin key');
  await sessions.revoke({ ...other, sessionId: session.id });
  await sessions.revokeAll(other);
  expect(await createKeyStore(pool, 'pepper').revoke(other, row.id)).toBe(false);
  expect(await lookup.find(session.id)).toMatchObject({ organizationId: project.organizationId });
  await sessions.revokeAll(own);
  expect(await lookup.find(session.id)).toBeNull();
});
