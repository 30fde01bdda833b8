import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { inspectArchive } from '../../../../activities/environment/layer-archive.ts';
import { createLayerFiles, type LayerFiles } from '../../../../activities/environment/layer-files.ts';
import { provideLayer, type LayerToBuild } from '../../../../activities/environment/provide-layer.ts';
import { createEnvironmentLayerStore } from '../../../../db/for-worker/environment-layers.ts';
import { buildJob, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

let database: TestDatabase;
let directory: string;
beforeAll(async () => {
  database = await createTestDatabase();
  directory = temporaryDirectory();
});
afterAll(async () => {
  await database?.[Symbol.asyncDispose]();
});

const { signal } = new AbortController();
const machine = (name: string) => createLayerFiles({ directory: join(directory, name), mostBytes: 1e9 });
const write = async (folder: string, text: string) => {
  await writeFile(join(folder, 'layer.tar'), text);
  const { bytes, sha256 } = await inspectArchive(folder, { secrets: {}, signal });
  return { folder, layer: { bytes, sha256, excluded: ['made/'] } };
};

function layersOf(layerFiles: LayerFiles, ref: { projectId: string; key: string }, mostBytes = 1e9) {
  const layers = createEnvironmentLayerStore(database.pool);
  const build = vi.fn((folder: string) => write(folder, `${ref.key} `.repeat(3_000_000)));
  const provide = () =>
    provideLayer({ layers, layerFiles, layerBounds: { mostLayers: 2, mostBytes } }, { ref, signal, build });
  return { layers, build, provide };
}

it(
  'is built once and found by other machines, byte for byte, and by no other project',
  { tags: ['slow'] },
  async () => {
    const ref = { projectId: (await buildProject(database.pool)).id, key: 'one' };
    const first = layersOf(machine('a'), ref);
    expect(await first.provide()).toMatchObject({ source: 'setup', layer: { excluded: ['made/'] } });
    expect(await first.provide()).toMatchObject({ source: 'machine' });
    const second = layersOf(machine('b'), ref);
    const { folder, source } = await second.provide();
    expect(source).toBe('database');
    expect(await readFile(join(folder, 'layer.tar'), 'utf8')).toBe('one '.repeat(3_000_000));
    const other = layersOf(machine('a'), { ...ref, projectId: (await buildProject(database.pool)).id });
    expect(await other.provide()).toMatchObject({ source: 'setup' });
    expect([first, second, other].map(({ build }) => build.mock.calls.length)).toEqual([1, 0, 1]);
  },
);

it('is not built again if its builder died after it was finished, and is if it died before', async () => {
  const ref = { projectId: (await buildProject(database.pool)).id, key: 'one' };
  const files = machine('c');
  const { layers, build, provide } = layersOf(files, ref);
  expect(await layers.claim(ref, 0)).toMatchObject({ state: 'claimed' });
  await write(await files.begin(), 'half');
  expect(await provide()).toMatchObject({ source: 'setup' });
  await database.pool.query('delete from environment_layers');
  expect(await layers.claim(ref, 0)).toMatchObject({ state: 'claimed' });
  expect(await provide()).toMatchObject({ source: 'machine' });
  expect(build).toHaveBeenCalledTimes(1);
  const elsewhere = layersOf(machine('d'), ref);
  expect(await elsewhere.provide()).toMatchObject({ source: 'database' });
});

it('is built by another when its builder is suspended, which then begins nothing', { timeout: 15_000 }, async () => {
  const project = await buildProject(database.pool);
  const ref = { projectId: project.id, key: 'one' };
  const { id: jobId } = await buildJob(database.pool, project);
  const store = createEnvironmentLayerStore(database.pool);
  const [begun, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const setup = vi.fn((folder: string) => write(folder, 'late'));
  const build = async (folder: string, { start }: LayerToBuild) => {
    begun.resolve();
    await resumed.promise;
    await start({ jobId, turn: 1, text: 'started' });
    return setup(folder);
  };
  let isSuspended = true;
  const layers: typeof store = { ...store, hold: async (...claim) => isSuspended || store.hold(...claim) };
  const layerBounds = { mostLayers: 2, mostBytes: 1e9 };
  const suspended = provideLayer({ layers, layerFiles: machine('i'), layerBounds }, { ref, signal, build });
  await begun.promise;
  expect(await layersOf(machine('j'), ref).provide()).toMatchObject({ source: 'setup' });
  isSuspended = false;
  resumed.resolve();
  expect(await suspended).toMatchObject({ source: 'database' });
  expect(setup).not.toHaveBeenCalled();
  const notices = `select data ->> 'text' as text from job_events where job_id = $1 and type = 'notice'`;
  expect((await database.pool.query(notices, [jobId])).rows).toEqual([]);
  // one that holds its layer says so, and holds it for longer
  const { id } = (await store.claim({ ...ref, key: 'two' }, 60_000)) as { id: string };
  expect(await store.start(id, 0, { jobId, turn: 1, text: 'started' })).toBe(true);
  expect((await database.pool.query(notices, [jobId])).rows).toEqual([{ text: 'started' }]);
  expect(await store.claim({ ...ref, key: 'two' }, 1_000)).toMatchObject({ state: 'claimed' });
});

it('is built again if what is stored of it is damaged', async () => {
  const ref = { projectId: (await buildProject(database.pool)).id, key: 'one' };
  await layersOf(machine('e'), ref).provide();
  await database.pool.query('delete from environment_chunks where position = 1');
  expect(await layersOf(machine('f'), ref).provide()).toMatchObject({ source: 'setup' });
});

it(
  'is removed when its project has newer ones or its organization has no space, and stays out if it is too large',
  { tags: ['slow'] },
  async () => {
    const { id: projectId } = await buildProject(database.pool);
    const stored = async () => {
      const { rows } = await database.pool.query(
        'select key from environment_layers where project_id = $1 order by key',
        [projectId],
      );
      return rows.map(({ key }) => key);
    };
    for (const key of ['one', 'two', 'three']) await layersOf(machine('g'), { projectId, key }).provide();
    expect(await stored()).toEqual(['three', 'two']);
    await layersOf(machine('g'), { projectId, key: 'zero' }, 100).provide();
    expect(await stored()).toEqual(['three', 'two']);
  },
);

it('finds a secret in an archive, also across two parts', async () => {
  const folder = await machine('h').begin();
  const before = 8 * 2 ** 20 - 3;
  await writeFile(join(folder, 'layer.tar'), `${'x'.repeat(before)}a-secret-value${'x'.repeat(100)}`);
  const secrets = { OTHER: 'not-in-there', TOKEN: 'a-secret-value' };
  expect(await inspectArchive(folder, { secrets, signal })).toMatchObject({ secret: 'TOKEN' });
  expect(await inspectArchive(folder, { secrets: { OTHER: 'not-in-there' }, signal })).toMatchObject({ secret: null });
});

it.each(['', 'u:', 'user:'])('finds a secret that a login stored in base64 after "%s"', async (before) => {
  const folder = await machine('h').begin();
  const auth = Buffer.from(`${before}a-secret-value\n`).toString('base64');
  await writeFile(join(folder, 'layer.tar'), `{"auths": {"registry.test": {"auth": "${auth}"}}}`);
  expect(await inspectArchive(folder, { secrets: { TOKEN: 'a-secret-value' }, signal })).toMatchObject({
    secret: 'TOKEN',
  });
  expect(await inspectArchive(folder, { secrets: { OTHER: 'not-in-there' }, signal })).toMatchObject({ secret: null });
});
