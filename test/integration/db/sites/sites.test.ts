import { randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { createSiteStore, DomainTakenError } from '../../../../db/sites/sites.ts';
import { operatorOf } from '../../../../db/caller.ts';
import { createSiteIndexing, type SiteIndexing } from '../../../../db/for-worker/site-indexing.ts';
import { createReplyStore } from '../../../../db/sites/replies.ts';
import { createThreadStore } from '../../../../db/sites/threads.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { seedSite } from '../seed.ts';
import { createSiteIndexStore } from '../../../../db/sites/site-indexes.ts';
import { IndexGoneError } from '../../../../db/sites/index-blocks.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { ofFile } from '../../../support/of-file.ts';

const block = 64 * 1024;
const database = ofFile(createTestDatabase);
let folder: string;
beforeAll(async () => {
  folder = temporaryDirectory();
});

let builds = 0;
async function build(content: Buffer) {
  builds += 1;
  const name = `build-${builds}`;
  const file = join(folder, name);
  await writeFile(file, content);
  return { format: 1, sourceHash: name, pages: 3, chunks: 9, file };
}

async function countBlocks(pool: Pool): Promise<number> {
  const { rows } = await pool.query('select count(*)::integer as blocks from site_index_blocks');
  return rows[0].blocks;
}

it('stores a site as it was created, and allows a domain once per organization', async () => {
  const sites = createSiteStore(database.pool);
  const site = await seedSite(database.pool, { path: 'docs', baseUrl: 'https://docs.example.com', refreshMinutes: 5 });
  expect(site).toMatchObject({ path: 'docs', retentionDays: 30, refreshMinutes: 5, indexVersion: 0, repository: null });
  expect(await sites.findByDomain(site, site.domain)).toEqual(site);
  expect(await sites.list(site, { limit: 10 })).toEqual({ rows: [site], nextCursor: null });
  expect(await sites.findByDomain(site, 'a\0b')).toBeNull();
  const { organizationId, domain } = site;
  await expect(seedSite(database.pool, { organizationId, domain })).rejects.toThrow(DomainTakenError);
  const other = await seedSite(database.pool, { domain });
  // at once, which is one statement
  const owners = [other, site, other];
  expect(await Promise.all(owners.map((owner) => sites.findByDomain(owner, domain)))).toEqual(owners);
});

it('keeps an index request until the newest one is answered', async () => {
  const sites = createSiteIndexing(database.pool);
  const site = await seedSite(database.pool);
  expect(await wantedBy(sites, 100)).not.toContain(site.id);
  await sites.requestIndex(site.id);
  expect((await sites.get(site.id))?.indexRequestedAt).toBeInstanceOf(Date);
  expect(await wantedBy(sites, 100)).toContain(site.id);
  const first = await sites.startIndexRun(site.id);
  await sites.requestIndex(site.id);
  await sites.answerIndexRequest(site.id, first!);
  expect(await wantedBy(sites, 100)).toContain(site.id);
  await sites.answerIndexRequest(site.id, (await sites.startIndexRun(site.id))!);
  expect(await wantedBy(sites, 100)).not.toContain(site.id);
  expect(await sites.startIndexRun(site.id)).toBeNull();
});

it('requests an index for sites whose index has an older format', async () => {
  const sites = createSiteIndexing(database.pool);
  const [old, current] = [await seedSite(database.pool), await seedSite(database.pool)];
  const indexes = createSiteIndexStore(database.pool);
  await indexes.publish(old, await build(randomBytes(10)));
  await indexes.publish(current, { ...(await build(randomBytes(10))), format: 2 });
  await sites.requestOutdated(2);
  const wanted = await wantedBy(sites, 1_000);
  expect(wanted).toContain(old.id);
  expect(wanted).not.toContain(current.id);
});

it('keeps a failure until an index is built or found up to date, and a newer request after both', async () => {
  const sites = createSiteIndexing(database.pool);
  const indexes = createSiteIndexStore(database.pool);
  const site = await seedSite(database.pool);
  const failure = { request: null, category: 'site_unreadable', message: 'No pages.' };
  const fail = () => sites.recordIndexFailure(site.id, failure);
  const failed = { indexFailure: 'site_unreadable', indexFailureMessage: 'No pages.' };
  const served = { indexFailure: null, indexFailureMessage: null, indexVersion: 1, indexPages: 3 };
  await fail();
  expect(await sites.get(site.id)).toMatchObject(failed);
  await sites.requestIndex(site.id);
  await indexes.publish(site, await build(Buffer.from('x')));
  expect(await sites.get(site.id)).toMatchObject({ ...served, indexRequestedAt: expect.any(Date) });
  await fail();
  await indexes.confirm(site);
  expect(await sites.get(site.id)).toMatchObject(served);
});

it('records the failure of a request while it or a newer one waits, but not once it was answered', async () => {
  const sites = createSiteIndexing(database.pool);
  const site = await seedSite(database.pool);
  const requested = async () => {
    await sites.requestIndex(site.id);
    return (await sites.startIndexRun(site.id))!;
  };
  const fail = (request: string, message: string) =>
    sites.recordIndexFailure(site.id, { request, category: 'site_unreadable', message });
  const first = await requested();
  await fail(first, 'first');
  expect(await sites.get(site.id)).toMatchObject({ indexFailureMessage: 'first' });
  const second = await requested();
  await fail(first, 'first, with a newer request');
  expect(await sites.get(site.id)).toMatchObject({ indexFailureMessage: 'first, with a newer request' });
  await createSiteIndexStore(database.pool).publish(site, await build(Buffer.from('x')));
  await sites.answerIndexRequest(site.id, second);
  for (const request of [first, second]) await fail(request, 'late');
  expect(await sites.get(site.id)).toMatchObject({ indexFailure: null, indexFailureMessage: null });
});

it('returns the bytes of a version, of any length', async () => {
  const indexes = createSiteIndexStore(database.pool);
  const site = await seedSite(database.pool);
  expect(await indexes.current(site)).toBeNull();
  const zeros = Buffer.alloc(3 * block);
  const contents = [0, 1, block - 1, block, block + 1, 17 * block + 5, 32 * block].map((size) => randomBytes(size));
  for (const [index, content] of [...contents, zeros].entries()) {
    const published = await indexes.publish(site, await build(content));
    expect(published).toMatchObject({ version: index + 1, sizeBytes: content.length, pages: 3, chunks: 9 });
    expect(await indexes.current(site)).toEqual(published);
    const file = join(folder, 'copy');
    await indexes.download(site, published.version, { file });
    expect(content.equals(await readFile(file))).toBe(true);
  }
  expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
});

it('stores and fetches only the blocks that changed', async () => {
  const indexes = createSiteIndexStore(database.pool);
  const site = await seedSite(database.pool);
  const content = randomBytes(40 * block);
  const first = await indexes.publish(site, await build(content));
  const previous = await indexes.download(site, first.version, { file: join(folder, 'previous') });
  const before = await countBlocks(database.pool);

  const changed = Buffer.from(content);
  changed.write('changed', 20 * block + 7);
  const second = await indexes.publish(site, await build(changed));
  expect(await countBlocks(database.pool)).toBe(before + 1);
  const reads: unknown[] = [];
  const counting = new Proxy(database.pool, {
    get: (pool, name) => {
      if (name !== 'query') return Reflect.get(pool, name);
      return async (text: string, values: unknown[]) => {
        const answer = await pool.query(text, values);
        if (text.includes('data from site_index_blocks')) reads.push(...answer.rows);
        return answer;
      };
    },
  });
  const file = join(folder, 'next');
  await createSiteIndexStore(counting).download(site, second.version, { file, previous });
  expect(changed.equals(await readFile(file))).toBe(true);
  expect(reads).toHaveLength(1);
  // a missing previous file does not cause a failure
  await indexes.download(site, second.version, { file, previous: { ...previous, file: join(folder, 'nowhere') } });
  expect(changed.equals(await readFile(file))).toBe(true);
});

it.each([
  ['of the same length', 4 * block + 7],
  ['longer', 6 * block + 1],
  ['shorter', 2 * block + 7],
])('returns an index %s that was stored next to the one it replaces', async (_form, length) => {
  const indexes = createSiteIndexStore(database.pool);
  const site = await seedSite(database.pool);
  const first = randomBytes(4 * block + 7);
  const { file: previousFile, ...rest } = await build(first);
  const { version } = await indexes.publish(site, { ...rest, file: previousFile });
  const second = Buffer.concat([first, randomBytes(3 * block)]).subarray(0, length);
  second[block + 5]! ^= 1;
  const made = await indexes.publish(site, { ...(await build(second)), replaces: version, previousFile });
  const { file } = await indexes.download(site, made.version, { file: join(folder, `beside-${length}`) });
  expect((await readFile(file)).equals(second)).toBe(true);
});

it('keeps the version of an index whose source is unchanged, and clears the failure', async () => {
  const sites = createSiteIndexing(database.pool);
  const indexes = createSiteIndexStore(database.pool);
  const site = await seedSite(database.pool);
  const index = await build(randomBytes(100));
  const first = await indexes.publish(site, index);
  await sites.recordIndexFailure(site.id, { request: null, category: 'internal', message: 'x' });
  expect(await indexes.publish(site, index)).toEqual(first);
  expect(await sites.get(site.id)).toMatchObject({ indexVersion: 1, indexFailure: null });
  const named = await indexes.publish(site, { ...index, revision: 'abc' });
  expect(named).toEqual({ ...first, revision: 'abc' });
  expect(await indexes.current(site)).toEqual(named);
  expect((await indexes.publish(site, { ...index, format: 2 })).version).toBe(2);
});

it('keeps two older versions, and no block that no version needs', async () => {
  const indexes = createSiteIndexStore(database.pool);
  const site = await seedSite(database.pool);
  const before = await countBlocks(database.pool);
  for (let version = 1; version <= 5; version += 1) await indexes.publish(site, await build(randomBytes(2 * block)));
  expect(await countBlocks(database.pool)).toBe(before + 6);
  const file = join(folder, 'old');
  await indexes.download(site, 3, { file });
  await expect(indexes.download(site, 2, { file })).rejects.toThrow(IndexGoneError);
});

it('is deleted with its index, its conversations and the blocks that no other site needs', async () => {
  const [sites, indexes] = [createSiteStore(database.pool), createSiteIndexStore(database.pool)];
  const threads = createThreadStore(database.pool);
  const [gone, kept] = [await seedSite(database.pool), await seedSite(database.pool)];
  const before = await countBlocks(database.pool);
  const shared = randomBytes(block);
  await indexes.publish(gone, await build(Buffer.concat([shared, randomBytes(2 * block)])));
  const index = await build(Buffer.concat([shared, randomBytes(block)]));
  await indexes.publish(kept, index);
  for (const site of [gone, kept]) {
    const threadId = `thr_${site.id}`;
    await threads.open(site, { threadId, fp: 'anonymous' });
    const reply = { id: `rpl_${site.id}`, siteId: site.id, threadId, chatId: 'chat', keyId: 'key' };
    await createReplyStore(database.pool).create({ ...reply, protocol: 'v2' });
  }

  expect(await sites.remove(operatorOf(kept), gone.id)).toBe(false);
  expect(await sites.remove(operatorOf(gone), gone.id)).toBe(true);
  expect(await sites.remove(operatorOf(gone), gone.id)).toBe(false);
  expect(await sites.findByDomain(gone, gone.domain)).toBeNull();
  expect(await indexes.current(gone)).toBeNull();
  expect(await threads.get(gone, `thr_${gone.id}`)).toBeNull();
  expect(await countBlocks(database.pool)).toBe(before + 2);
  const file = join(folder, 'kept');
  await indexes.download(kept, 1, { file });
  expect(await readFile(file)).toEqual(await readFile(index.file));
  expect(await threads.get(kept, `thr_${kept.id}`)).not.toBeNull();
});

it('shows and changes the index of a site only for its organization', async () => {
  const [sites, indexes] = [createSiteStore(database.pool), createSiteIndexStore(database.pool)];
  const [site, other] = [await seedSite(database.pool), await seedSite(database.pool)];
  const published = await indexes.publish(site, await build(Buffer.from('x')));
  const foreign = { id: site.id, organizationId: other.organizationId };
  const file = join(folder, 'foreign');
  expect(await indexes.current(foreign)).toBeNull();
  await expect(indexes.download(foreign, 1, { file })).rejects.toThrow(IndexGoneError);
  await expect(indexes.publish(foreign, await build(Buffer.from('y')))).rejects.toThrow('returned none');
  await indexes.confirm(foreign);
  expect(await indexes.current(site)).toEqual(published);
  const operator = operatorOf(other);
  expect(await sites.update(operator, site.id, { path: 'stolen' })).toBeNull();
  expect(await sites.requestIndex(operator, site.id)).toBeNull();
  expect(await sites.findByDomain(site, site.domain)).toMatchObject({ path: '', indexRequestedAt: null });
});

it('publishes for many sites at once, with shared blocks, without losing any', async () => {
  const indexes = createSiteIndexStore(database.pool);
  const shared = Array.from({ length: 6 }, () => randomBytes(block));
  const sites = [await seedSite(database.pool), await seedSite(database.pool), await seedSite(database.pool)];
  for (let round = 0; round < 4; round += 1) {
    const made = await Promise.all(
      [...sites, ...sites.slice(0, 1)].map(async (site, index) => {
        const order = index % 2 === 0 ? shared : shared.toReversed();
        const content = Buffer.concat([...order, randomBytes(block + index)]);
        return { site, content, published: await indexes.publish(site, await build(content)) };
      }),
    );
    for (const [index, { site, content, published }] of made.entries()) {
      const file = join(folder, `parallel-${index}`);
      await indexes.download(site, published.version, { file });
      expect(content.equals(await readFile(file))).toBe(true);
    }
  }
  expect((await indexes.current(sites[0]!))?.version).toBe(8);
});

it('lists index requests in turn between organizations', async () => {
  const sites = createSiteIndexing(database.pool);
  await database.pool.query('update sites set index_requested_at = null');
  const busy = await seedSite(database.pool);
  const more = await Promise.all([1, 2].map(() => seedSite(database.pool, { organizationId: busy.organizationId })));
  const other = await seedSite(database.pool);
  for (const { id } of [busy, ...more, other]) await sites.requestIndex(id);
  expect(await sites.listIndexRequests(2)).toEqual([
    { siteId: busy.id, organizationId: busy.organizationId },
    { siteId: other.id, organizationId: other.organizationId },
  ]);
});

async function wantedBy(sites: SiteIndexing, limit: number): Promise<string[]> {
  return (await sites.listIndexRequests(limit)).map(({ siteId }) => siteId);
}
