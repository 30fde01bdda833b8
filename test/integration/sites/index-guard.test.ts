import { expect, it } from 'vitest';
import { operatorOf } from '../../../db/caller.ts';
import { createSiteIndexing } from '../../../db/for-worker/site-indexing.ts';
import { createQuestionSetStore, type SetQuestion } from '../../../db/sites/question-sets.ts';
import { createSiteStore } from '../../../db/sites/sites.ts';
import { buildSite } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { indexFormat } from '../../../search/query/index-format.ts';
import { publishAsOlderFormat, search, startSiteWorker } from './site-worker.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const worker = ofFile(() => startSiteWorker({ database }));

const asks = (text: string, more: Partial<SetQuestion> = {}): SetQuestion => ({
  text,
  expectedPages: [],
  expectedFacts: [],
  expectsAnswer: true,
  origin: 'manual',
  ...more,
});
const questions = [
  asks('How long does the heron wait?', { expectedPages: ['/heron.md'], expectedFacts: ['3 hours'] }),
  asks('What does the crane eat?', { expectedPages: ['crane'] }),
  asks('Which paint suits the gearbox?', { expectsAnswer: false }),
  asks('Where does the stork nest?'),
];
const pages = {
  'heron.md': '# The heron\n\nThe heron waits for 3 hours.\n',
  'crane.md': '# The crane\n\nThe crane eats frogs.\n',
  'stork.md': '# The stork\n\nThe stork nests on the roof.\n',
};

async function buildGuardedSite(margin: number) {
  const repository = await createTestRepository(pages);
  const site = await buildSite(database.pool, { repository: repository.path });
  const caller = operatorOf(site);
  const sets = createQuestionSetStore(database.pool);
  const set = await sets.create(caller, site.id, { name: 'Birds', questions });
  const sites = createSiteStore(database.pool);
  await sites.update(caller, site.id, { guardSetId: set.id, guardMargin: margin });
  await worker.index(site);
  return { repository, site, caller, sites, set, sets };
}
const stateOf = (id: string) => createSiteIndexing(database.pool).get(id);

it('keeps the index when the next one is worse, says why, and uses it when forced', { tags: ['slow'] }, async () => {
  const { repository, site, caller, sites } = await buildGuardedSite(0.2);
  await using _repository = repository;
  await repository.commit({ 'heron.md': '# The heron\n\nThe heron waits for 4 hours.\n', 'crane.md': '# Frogs\n' });
  await sites.requestIndex(caller, site.id);
  expect(await worker.index(site)).toMatchObject({ version: 1, changedPages: 0 });
  expect(await stateOf(site.id)).toMatchObject({
    indexVersion: 1,
    indexRequestedAt: null,
    indexFailure: 'site_worse',
    indexFailureMessage:
      'The new index is not used, because it is worse: it finds what 2 of the 4 questions of Birds expect, and the current one 4. It no longer does for “How long does the heron wait?”, “What does the crane eat?”.',
  });
  expect(await search(database, site, 'heron')).toEqual(['The heron']);

  await sites.requestIndex(caller, site.id, { isForced: true });
  expect(await worker.index(site)).toMatchObject({ version: 2 });
  expect(await stateOf(site.id)).toMatchObject({ indexVersion: 2, indexFailure: null, indexRequestedAt: null });
  // force counts for one index
  await repository.commit({ 'stork.md': '# Roofs\n\nNothing.\n', 'heron.md': '# Fish\n' });
  await sites.requestIndex(caller, site.id);
  expect(await worker.index(site)).toMatchObject({ version: 2 });
});

it(
  'keeps an index of an older format when the next one is worse, and builds no other at once',
  { tags: ['slow'] },
  async () => {
    const { repository, site, sites, caller } = await buildGuardedSite(0.2);
    await using _repository = repository;
    await publishAsOlderFormat(database, site);
    await repository.commit({ 'heron.md': '# Fish\n', 'crane.md': '# Frogs\n' });
    await sites.requestIndex(caller, site.id);
    await worker.index(site);
    expect(await stateOf(site.id)).toMatchObject({ indexFailure: 'site_worse', indexRequestedAt: null });
    expect(await search(database, site, 'heron')).toEqual(['The heron']);
    await createSiteIndexing(database.pool).requestOutdated(indexFormat);
    expect(await stateOf(site.id)).toMatchObject({ indexRequestedAt: null });
  },
);

it(
  'uses an index that is worse by no more than the margin, and any index without a guard',
  { tags: ['slow'] },
  async () => {
    const { repository, site, caller, sets, set } = await buildGuardedSite(0.25);
    await using _repository = repository;
    await repository.commit({ 'heron.md': '# The heron\n\nThe heron waits for 4 hours.\n' });
    expect(await worker.index(site)).toMatchObject({ version: 2 });
    await sets.remove(caller, site.id, set.id);
    expect(await stateOf(site.id)).toMatchObject({ guardSetId: null });
    await repository.commit({ 'crane.md': '# Frogs\n', 'stork.md': '# Roofs\n' });
    expect(await worker.index(site)).toMatchObject({ version: 3 });
  },
);
