import { expect, it } from 'vitest';
import type { SiteRef } from '../../../../db/caller.ts';
import { newId } from '../../../../db/ids.ts';
import { createReplyStore } from '../../../../db/sites/replies.ts';
import { createSweeps } from '../../../../db/for-service/sweeps.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { seedSite } from '../seed.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);

async function beginReply(chat: { site?: SiteRef; chatId?: string } = {}) {
  const replies = createReplyStore(database.pool);
  const site = chat.site ?? (await seedSite(database.pool));
  const siteId = site.id;
  const reply = { id: newId('rpl_'), siteId, chatId: chat.chatId ?? 'chat', keyId: 'key', threadId: newId('thr_') };
  const resumeToken = await replies.create({ ...reply, protocol: 'v2' });
  return { replies, reply, site, query: { chatId: reply.chatId, keyId: 'key', resumeToken } };
}

it('returns what was written, from any chunk on, and whether it has ended', async () => {
  const { replies, reply } = await beginReply();
  const parts = ['data: {"a":1}\n\n', 'ö😀', ' tail'];
  for (const [position, data] of parts.entries())
    expect(await replies.append({ id: reply.id, position, data })).toBe(true);
  const running = await replies.read(reply.id, 0);
  expect(running).toMatchObject({ chunks: parts, ended: false });
  expect(running.silentSeconds).toBeGreaterThanOrEqual(0);
  expect((await replies.read(reply.id, 2)).chunks).toEqual([' tail']);
  expect(await replies.end({ id: reply.id, tail: '[DONE]' })).toBe(true);
  expect(await replies.read(reply.id, 0)).toMatchObject({ chunks: [...parts, '[DONE]'], ended: true });
  expect(await replies.read('rpl_unknown', 0)).toEqual({ chunks: [], ended: true, silentSeconds: 0 });
});

it('ends once, and accepts nothing afterwards', async () => {
  const { replies, reply } = await beginReply();
  const endings = await Promise.all(['x', 'y', null].map((tail) => replies.end({ id: reply.id, tail })));
  expect(endings.filter(Boolean)).toHaveLength(1);
  expect(await replies.append({ id: reply.id, position: 5, data: 'late' })).toBe(false);
  expect((await replies.read(reply.id, 0)).chunks.length).toBeLessThanOrEqual(1);
  expect(await replies.append({ id: 'rpl_unknown', position: 0, data: 'x' })).toBe(false);
});

it('never lets an append overtake the end: every accepted chunk precedes the tail', async () => {
  for (let round = 0; round < 15; round += 1) {
    const { replies, reply } = await beginReply();
    await replies.append({ id: reply.id, position: 0, data: '0' });
    const [appended, ended] = await Promise.all([
      replies.append({ id: reply.id, position: 1, data: '1' }),
      replies.end({ id: reply.id, tail: 'end' }),
    ]);
    expect(ended).toBe(true);
    expect((await replies.read(reply.id, 0)).chunks).toEqual(appended ? ['0', '1', 'end'] : ['0', 'end']);
  }
});

it('accepts a repeated append as the same one', async () => {
  const { replies, reply } = await beginReply();
  expect(await replies.append({ id: reply.id, position: 0, data: 'a' })).toBe(true);
  expect(await replies.append({ id: reply.id, position: 0, data: 'a' })).toBe(true);
  expect(await replies.append({ id: reply.id, position: 0, data: 'b' })).toBe(false);
  expect((await replies.read(reply.id, 0)).chunks).toEqual(['a']);
});

it('offers a reply to the holder of its token until it is delivered', async () => {
  const { replies, reply, site, query } = await beginReply();
  expect(query.resumeToken).toMatch(/^[0-9A-Za-z]{43}$/);
  expect(await replies.findResumable(site, query)).toMatchObject({ ...reply, protocol: 'v2', endedAt: null });
  // another reader of the same page, with the same public key and the same chat id
  const { reply: other, query: others } = await beginReply({ site });
  for (const wrong of [
    { keyId: 'other' },
    { chatId: 'other' },
    { resumeToken: '' },
    { resumeToken: query.resumeToken.slice(1) },
    { resumeToken: 'a'.repeat(5_000) },
  ])
    expect(await replies.findResumable(site, { ...query, ...wrong })).toBeNull();
  const { organizationId } = await seedSite(database.pool);
  expect(await replies.findResumable({ id: site.id, organizationId }, query)).toBeNull();
  expect(await replies.findResumable(await seedSite(database.pool), query)).toBeNull();
  expect((await replies.findResumable(site, others))?.id).toBe(other.id);
  await replies.end({ id: other.id, tail: null });
  expect((await replies.findResumable(site, others))?.id).toBe(other.id);
  await replies.markDelivered(other.id);
  expect(await replies.findResumable(site, others)).toBeNull();
  expect((await replies.findResumable(site, query))?.id).toBe(reply.id);
  const { rows } = await database.pool.query('select * from replies where id = $1', [reply.id]);
  expect(JSON.stringify(rows)).not.toContain(query.resumeToken);
});

it('measures the silence of the writer, and sweeps expired replies but never a running one', async () => {
  const { replies, site, query } = await beginReply();
  const { reply: running } = await beginReply({ site, chatId: 'running' });
  await database.pool.query(
    `update replies set heartbeat_at = now() - interval '90 seconds', delete_after = now() - interval '1 second'`,
  );
  expect((await replies.findResumable(site, query))?.silentSeconds).toBeGreaterThanOrEqual(90);
  await replies.heartbeat(running.id);
  expect((await replies.read(running.id, 0)).silentSeconds).toBeLessThan(60);
  await createSweeps(database.pool).replies();
  expect(await replies.findResumable(site, query)).toBeNull();
  expect(await replies.append({ id: running.id, position: 0, data: 'x' })).toBe(true);
});
