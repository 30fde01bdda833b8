import { stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createLayerFiles } from '../../../../activities/environment/layer-files.ts';
import { createEnvironmentLayerStore, type LayerRef } from '../../../../db/for-worker/environment-layers.ts';
import { createRetentionStore } from '../../../../db/for-worker/retention.ts';
import { buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);

/** Keys of stored layers, with the number of their chunks. */
async function storedIn(projectIds: string[]): Promise<string[]> {
  const { rows } = await database.pool.query(
    `select key, (select count(*) from environment_chunks where layer_id = id) as chunks
     from environment_layers where project_id = any($1) order by key`,
    [projectIds],
  );
  return rows.map(({ key, chunks }) => `${key}: ${chunks}`);
}

it('the layers of an organization are bounded, and the least recently used of all its projects go first', async () => {
  const store = createEnvironmentLayerStore(database.pool);
  const first = await buildProject(database.pool);
  const second = await buildProject(database.pool, { organizationId: first.organizationId });
  const foreign = await buildProject(database.pool);
  const bounds = { maxLayers: 5, maxBytes: 250 };
  async function keep(ref: LayerRef, bytes = 100): Promise<void> {
    const claim = await store.claim({ ...ref, leaseMs: 60_000, failureMs: 0 });
    if (claim.state !== 'claimed') throw new Error(claim.state);
    for (const position of [0, 1]) await store.addChunk(claim.id, position, Buffer.alloc(bytes / 2, 'x'));
    expect(await store.complete({ id: claim.id, description: {}, ...bounds })).toBe(true);
  }
  const own = [first.id, second.id];

  await keep({ projectId: foreign.id, key: 'foreign' }, 200);
  await keep({ projectId: first.id, key: 'one' });
  await keep({ projectId: second.id, key: 'two' });
  expect(await storedIn(own)).toEqual(['one: 2', 'two: 2']);
  // a job that uses a layer keeps it
  expect(await store.claim({ projectId: first.id, key: 'one', leaseMs: 0, failureMs: 0 })).toMatchObject({
    state: 'complete',
  });
  await keep({ projectId: first.id, key: 'three' });
  expect(await storedIn(own)).toEqual(['one: 2', 'three: 2']);
  // one that is being built is not counted, and stays
  expect(await store.claim({ projectId: second.id, key: 'built', leaseMs: 60_000, failureMs: 0 })).toMatchObject({
    state: 'claimed',
  });
  await keep({ projectId: second.id, key: 'large' }, 240);
  expect(await storedIn(own)).toEqual(['built: 0', 'large: 2']);
  expect(await storedIn([foreign.id])).toEqual(['foreign: 2']);
});

it('a layer that no job has used for 30 days goes, and so does what a dead builder left', async () => {
  const { id: projectId } = await buildProject(database.pool);
  const generous = { jobDays: 365, transcriptDays: 180, auditDays: 730, snapshotBytes: 2 ** 40, threads: 1e6 };
  await database.pool.query(
    `with layers as (
       insert into environment_layers (id, project_id, key, used_at, held_until)
       select 'lay_' || key, $1, key, now() - used::interval, now() - held::interval
       from (values ('unused', '30 days 1 hour', null), ('used', '29 days 23 hours', null),
                    ('abandoned', '25 hours', '25 hours'), ('building', '25 hours', '23 hours')) as ages (key, used, held)
       returning id
     ) insert into environment_chunks select id, 0, 'x' from layers`,
    [projectId],
  );
  await createRetentionStore(database.pool).sweep(generous);
  expect(await storedIn([projectId])).toEqual(['building: 1', 'used: 1']);
});

it('a worker keeps the layers on its disk within its space, without those that were used last', async () => {
  const directory = temporaryDirectory();
  const files = createLayerFiles({ directory, maxBytes: 250 });
  const minute = 60_000;
  async function keep(key: string): Promise<void> {
    const folder = await files.createFolder();
    await writeFile(join(folder, 'layer.tar'), 'x'.repeat(100));
    await files.add({ projectId: 'pr', key }, { folder, layer: { bytes: 100, sha256: key, excluded: [] } });
  }
  const age = async (path: string, ageMs: number) => {
    const time = new Date(Date.now() - ageMs);
    await utimes(path, time, time);
  };
  const folderOf = (key: string) => join(directory, 'layers', `pr.${key}`);
  const isThere = (path: string) => stat(path).then(Boolean, () => false);
  const kept = async (...keys: string[]) => {
    const there = await Promise.all(keys.map((key) => isThere(folderOf(key))));
    return keys.filter((_, at) => there[at]);
  };

  for (const key of ['one', 'two']) await keep(key);
  await age(folderOf('one'), 120 * minute);
  await age(folderOf('two'), 60 * minute);
  // a job that uses a layer keeps it
  expect(await files.find({ projectId: 'pr', key: 'one' })).not.toBeNull();
  await keep('three');
  expect(await kept('one', 'two', 'three')).toEqual(['one', 'three']);

  // what was used in the last ten minutes stays, because a command may read it
  await age(folderOf('one'), 9 * minute);
  await keep('four');
  expect(await kept('one', 'three', 'four')).toEqual(['one', 'three', 'four']);
  await age(folderOf('one'), 11 * minute);
  await age(folderOf('three'), 12 * minute);
  const [left, building] = [await files.createFolder(), await files.createFolder()];
  await age(left, 121 * minute);
  await age(building, 119 * minute);
  await keep('five');
  expect(await kept('one', 'three', 'four', 'five')).toEqual(['four', 'five']);
  // what a killed worker did not finish is removed
  expect([await isThere(left), await isThere(building)]).toEqual([false, true]);
});
