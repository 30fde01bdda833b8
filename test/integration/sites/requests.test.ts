import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { describe, expect, it } from 'vitest';
import type { SiteActivityDeps } from '../../../activities/sites/site-index.ts';
import { type SiteRow } from '../../../db/sites/sites.ts';
import { operatorOf } from '../../../db/caller.ts';
import { createSiteStore } from '../../../db/sites/sites.ts';
import { createSiteIndexing } from '../../../db/for-worker/site-indexing.ts';
import { indexSiteWorkflowId, refreshSiteScheduleId } from '../../../workflows/contract/messages.ts';
import { indexFormat } from '../../../search/query/index-format.ts';
import { publishPages } from '../assistant/site.ts';
import { buildSite } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { recordHistory } from '../../support/database/histories.ts';
import { search, startSiteWorker } from './site-worker.ts';
import type { SiteWorker } from './site-worker.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const pages = { 'a.md': '# Page\n\nThe heron waits.\n' };

const get = async ({ id }: SiteRow): Promise<SiteRow> => (await createSiteIndexing(database.pool).get(id))!;

/** Waits until no request is left. */
async function answered(site: SiteRow): Promise<SiteRow> {
  await expect.poll(async () => (await get(site)).indexRequestedAt).toBeNull();
  return get(site);
}

/** Blocks the publishing of an index until it is released, or its attempt is cancelled. */
function holdPublish() {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const published: string[] = [];
  let held = 0;
  const change = ({ indexes }: SiteActivityDeps): Partial<SiteActivityDeps> => ({
    indexes: {
      ...indexes,
      async publish(site, index) {
        reached.resolve();
        held += 1;
        await Promise.race([released.promise, Context.current().cancelled]);
        const made = await indexes.publish(site, index);
        published.push(`${site.id} ${made.version}`);
        return made;
      },
    },
  });
  return { change, published, held: () => held, reached: reached.promise, release: () => released.resolve() };
}

describe('an index request', () => {
  it('is answered once, however many workers see it', async () => {
    await using repository = await createTestRepository(pages);
    const publishing = holdPublish();
    publishing.release();
    const options = { database, taskQueue: `test-${randomUUID()}`, hasChores: true, change: publishing.change };
    await using _one = await startSiteWorker(options);
    await using _two = await startSiteWorker(options);
    const sites = await Promise.all([1, 2, 3].map(() => buildSite(database.pool, { repository: repository.path })));
    await Promise.all(sites.map(({ id }) => createSiteIndexing(database.pool).requestIndex(id)));
    for (const site of sites) expect(await answered(site)).toMatchObject({ indexVersion: 1, indexFailure: null });
    expect(publishing.published.sort()).toEqual(sites.map(({ id }) => `${id} 1`).sort());
  });

  it('waits as long as other sites take the slots', { tags: 'slow' }, async () => {
    await using repository = await createTestRepository(pages);
    const publishing = holdPublish();
    const begun = Promise.withResolvers<void>();
    let started = 0;
    const change = (deps: SiteActivityDeps): Partial<SiteActivityDeps> => ({
      indexes: publishing.change(deps).indexes,
      sites: {
        ...deps.sites,
        async startIndexRun(id) {
          started += 1;
          if (started <= 2) await begun.promise;
          return deps.sites.startIndexRun(id);
        },
      },
    });
    await using worker = await startSiteWorker({ database, hasChores: true, slots: 4, change });
    const { requestIndex } = createSiteIndexing(database.pool);
    const addSites = async (count: number) => {
      const added: SiteRow[] = [];
      for (let number = 0; number < count; number += 1) {
        const { organizationId } = added[0] ?? {};
        added.push(await buildSite(database.pool, { organizationId, repository: repository.path }));
      }
      for (const { id } of added) await requestIndex(id);
      return added;
    };
    const own = await addSites(2);
    await expect.poll(() => started).toBe(2);
    const others = [...(await addSites(1)), ...(await addSites(1))];
    await expect.poll(() => publishing.held()).toBe(2);
    // the others leave a slot for one of the two
    begun.resolve();
    await expect.poll(() => publishing.held()).toBe(3);
    const attempts = async () => {
      const found = own.map(({ id }) => worker.client.workflow.getHandle(indexSiteWorkflowId(id)).describe());
      const pending = (await Promise.all(found)).flatMap(({ raw }) => raw.pendingActivities ?? []);
      return Math.max(0, ...pending.map(({ attempt }) => attempt ?? 0));
    };
    await expect.poll(attempts, { timeout: 60_000 }).toBeGreaterThan(22);
    publishing.release();
    for (const site of [...own, ...others])
      expect(await answered(site)).toMatchObject({ indexVersion: 1, indexFailure: null });
  });

  it('that arrives during a run is answered by the next', async () => {
    await using repository = await createTestRepository(pages);
    const publishing = holdPublish();
    await using _worker = await startSiteWorker({ database, hasChores: true, change: publishing.change });
    const sites = createSiteIndexing(database.pool);
    const site = await buildSite(database.pool, { repository: repository.path });
    await sites.requestIndex(site.id);
    await publishing.reached;
    await repository.commit({ 'a.md': '# Page\n\nThe crane stands.\n' });
    await sites.requestIndex(site.id);
    publishing.release();
    expect(await answered(site)).toMatchObject({ indexVersion: 2 });
    expect(await search(database, site, 'crane')).toEqual(['Page']);
  });

  it('survives a lost run', async () => {
    await using repository = await createTestRepository(pages);
    const publishing = holdPublish();
    await using worker = await startSiteWorker({ database, hasChores: true, change: publishing.change });
    const site = await buildSite(database.pool, { repository: repository.path });
    await createSiteIndexing(database.pool).requestIndex(site.id);
    await publishing.reached;
    await worker.client.workflow.getHandle(indexSiteWorkflowId(site.id)).terminate();
    publishing.release();
    expect(await answered(site)).toMatchObject({ indexVersion: 1, indexFailure: null });
  });

  it('is answered by another worker if the first one stops midway', async () => {
    await using repository = await createTestRepository(pages);
    const publishing = holdPublish();
    const taskQueue = `test-${randomUUID()}`;
    const site = await buildSite(database.pool, { repository: repository.path });
    {
      await using _first = await startSiteWorker({ database, taskQueue, hasChores: true, change: publishing.change });
      await createSiteIndexing(database.pool).requestIndex(site.id);
      await publishing.reached;
    }
    expect(publishing.published).toEqual([]);
    expect(await get(site)).toMatchObject({ indexVersion: 0, indexRequestedAt: expect.any(Date) });
    await using _second = await startSiteWorker({ database, taskQueue });
    expect(await answered(site)).toMatchObject({ indexVersion: 1, indexFailure: null });
  });
});

describe('an index of the format before', () => {
  it('answers until every page has been read again in the background, without a request', async () => {
    await using repository = await createTestRepository(pages);
    const site = await buildSite(database.pool, { repository: repository.path });
    await publishPages(database.pool, site, { 'a.md': '# As it was read\n\nThe heron waits.\n' }, indexFormat - 1);
    const publishing = holdPublish();
    await using _worker = await startSiteWorker({ database, hasChores: true, change: publishing.change });
    await publishing.reached;
    expect(await search(database, site, 'heron')).toEqual(['As it was read']);
    publishing.release();
    expect(await answered(site)).toMatchObject({ indexVersion: 2, indexFailure: null });
    expect(await search(database, site, 'heron')).toEqual(['Page']);
  });

  it('does not answer if it can no longer be searched', async () => {
    const site = await buildSite(database.pool, { repository: '/nowhere' });
    await publishPages(database.pool, site, pages, 1);
    expect(await search(database, site, 'heron')).toBeNull();
  });
});

describe('an overtaken attempt', () => {
  it('does not replace a newer state with an older one', async () => {
    await using repository = await createTestRepository(pages);
    const publishing = holdPublish();
    await using slow = await startSiteWorker({ database, change: publishing.change });
    await using quick = await startSiteWorker({ database });
    const site = await buildSite(database.pool, { repository: repository.path });
    const run = slow.index(site);
    await publishing.reached;
    await repository.commit({ 'a.md': '# Page\n\nThe crane stands.\n' });
    // its own run, as Temporal starts one when it considers the first lost
    const twin = { workflowId: `twin/${site.id}`, taskQueue: quick.taskQueue, args: [{ siteId: site.id }] };
    await quick.client.workflow.execute('indexSite', twin);
    publishing.release();
    expect(await run).toMatchObject({ version: 1, changedPages: 0 });
    expect(await search(database, site, 'crane')).toEqual(['Page']);
  });
});

describe('a site with an automatic refresh', () => {
  it('has a schedule that follows its interval and requests an index', async () => {
    await using repository = await createTestRepository(pages);
    await using worker = await startSiteWorker({ database, hasChores: true });
    const site = await buildSite(database.pool, { repository: repository.path, refreshMinutes: 30 });
    const handle = worker.client.schedule.getHandle(refreshSiteScheduleId(site.id));
    const everyMs = async () => (await handle.describe().catch(() => null))?.spec.intervals?.[0]?.every ?? null;
    const set = (minutes: number | null) =>
      database.pool.query('update sites set refresh_minutes = $2 where id = $1', [site.id, minutes]);

    await expect.poll(everyMs).toBe(30 * 60_000);
    // the newest run that was missed while nothing ran takes place afterwards
    expect((await handle.describe()).policies.catchupWindow).toBe(30 * 60_000);
    await set(5);
    await expect.poll(everyMs).toBe(5 * 60_000);
    await handle.trigger();
    await expect.poll(async () => (await get(site)).indexVersion).toBe(1);
    await answered(site);
    const [run] = (await handle.describe()).info.recentActions;
    const { workflowId, firstExecutionRunId } = run!.action.workflow;
    await recordHistory('site-refreshed', worker.client.workflow.getHandle(workflowId, firstExecutionRunId));
    await set(null);
    await expect.poll(everyMs).toBeNull();
  });

  it('loses its schedule when it is deleted, even if no worker ran meanwhile', async () => {
    const taskQueue = `test-${randomUUID()}`;
    const [first, second] = [
      await buildSite(database.pool, { refreshMinutes: 7 }),
      await buildSite(database.pool, { refreshMinutes: 7 }),
    ];
    const hasSchedule = ({ client }: SiteWorker, { id }: SiteRow) =>
      client.schedule
        .getHandle(refreshSiteScheduleId(id))
        .describe()
        .then(
          () => true,
          () => false,
        );
    {
      await using worker = await startSiteWorker({ database, taskQueue, hasChores: true });
      for (const site of [first, second]) await expect.poll(() => hasSchedule(worker, site)).toBe(true);
      await createSiteStore(database.pool).remove(operatorOf(first), first.id);
      await expect.poll(() => hasSchedule(worker, first)).toBe(false);
      expect(await hasSchedule(worker, second)).toBe(true);
    }
    await createSiteStore(database.pool).remove(operatorOf(second), second.id);
    await using later = await startSiteWorker({ database, taskQueue, hasChores: true });
    await expect.poll(() => hasSchedule(later, second)).toBe(false);
  });

  it('has a schedule on the queue of the running workers', async () => {
    const site = await buildSite(database.pool, { refreshMinutes: 7 });
    const queueOf = async ({ client }: SiteWorker) =>
      (
        await client.schedule
          .getHandle(refreshSiteScheduleId(site.id))
          .describe()
          .catch(() => null)
      )?.action.taskQueue;
    {
      await using before = await startSiteWorker({ database, hasChores: true });
      await expect.poll(() => queueOf(before)).toBe(before.taskQueue);
    }
    await using now = await startSiteWorker({ database, hasChores: true });
    await expect.poll(() => queueOf(now)).toBe(now.taskQueue);
  });

  it('gets one schedule from several workers', async () => {
    const taskQueue = `test-${randomUUID()}`;
    const site = await buildSite(database.pool, { refreshMinutes: 7 });
    await using one = await startSiteWorker({ database, taskQueue, hasChores: true });
    await using _two = await startSiteWorker({ database, taskQueue, hasChores: true });
    const handle = one.client.schedule.getHandle(refreshSiteScheduleId(site.id));
    await expect
      .poll(() =>
        handle.describe().then(
          ({ spec }) => spec.intervals?.[0]?.every,
          () => null,
        ),
      )
      .toBe(7 * 60_000);
    await database.pool.query('update sites set refresh_minutes = null where id = $1', [site.id]);
    await expect
      .poll(() =>
        handle.describe().then(
          () => true,
          () => false,
        ),
      )
      .toBe(false);
  });
});
