import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it, vi } from 'vitest';
import { inspectArchive } from '../../../../activities/environment/layer-archive.ts';
import { createLayerFiles, type LayerFiles } from '../../../../activities/environment/layer-files.ts';
import { lastLayer, provideLayer, type LayerToBuild } from '../../../../activities/environment/provide-layer.ts';
import { createEnvironmentLayerStore } from '../../../../db/for-worker/environment-layers.ts';
import { operatorOf } from '../../../../db/caller.ts';
import { createSetupSecretStore } from '../../../../db/organizations/setup-secrets.ts';
import { createSecretBox } from '../../../../lib/encryption/secret-box.ts';
import { buildJob, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
let directory: string;
beforeAll(async () => {
  directory = temporaryDirectory();
});

const { signal } = new AbortController();
const machine = (name: string) => createLayerFiles({ directory: join(directory, name), maxBytes: 1e9 });
const write = async (folder: string, text: string) => {
  await writeFile(join(folder, 'layer.tar'), text);
  const { bytes, sha256 } = await inspectArchive(folder, { secrets: {}, signal });
  return { folder, layer: { bytes, sha256, excluded: ['made/'] } };
};

const failureOf = (error: unknown) => (error instanceof Error && error.message === 'exit code 3' ? 'It failed.' : null);

function layersOf(layerFiles: LayerFiles, ref: { projectId: string; key: string }, maxBytes = 1e9) {
  const layers = createEnvironmentLayerStore(database.pool);
  const build = vi.fn((folder: string, _claim?: LayerToBuild) => write(folder, `${ref.key} `.repeat(3_000_000)));
  const provide = (rememberMs = 0) =>
    provideLayer(
      { layers, layerFiles, layerBounds: { maxLayers: 2, maxBytes } },
      { ref, signal, build, failureOf, rememberMs },
    );
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
    const found = await second.provide();
    if (found.source !== 'database') throw new Error(found.source);
    expect(await readFile(join(found.folder, 'layer.tar'), 'utf8')).toBe('one '.repeat(3_000_000));
    const other = layersOf(machine('a'), { ...ref, projectId: (await buildProject(database.pool)).id });
    expect(await other.provide()).toMatchObject({ source: 'setup' });
    expect([first, second, other].map(({ build }) => build.mock.calls.length)).toEqual([1, 0, 1]);
  },
);

it('is the last one of its project, whatever else the machine has kept since', async () => {
  const ref = { projectId: (await buildProject(database.pool)).id, key: 'one' };
  const layerFiles = machine('m');
  const { layers, provide } = layersOf(layerFiles, ref);
  const deps = { layers, layerFiles, layerBounds: { maxLayers: 2, maxBytes: 1e9 } };
  const last = (maxBytes: number) => lastLayer(deps, { projectId: ref.projectId, maxBytes, signal });
  const addPackages = async () =>
    layerFiles.add({ ...ref, key: 'mcp-1' }, await write(await layerFiles.createFolder(), 'programs of a server'));
  await addPackages();
  expect(await last(1e9)).toBeNull();
  const made = await provide();
  await layerFiles.find({ ...ref, key: 'mcp-1' });
  expect(await last(1e9)).toMatchObject({ folder: made.source === 'setup' && made.folder });
  expect(await last(1e6)).toBeNull();
});

it('is not built again if its builder died after it was finished, and is if it died before', async () => {
  const ref = { projectId: (await buildProject(database.pool)).id, key: 'one' };
  const files = machine('c');
  const { layers, build, provide } = layersOf(files, ref);
  expect(await layers.claim({ ...ref, leaseMs: 0, failureMs: 0 })).toMatchObject({ state: 'claimed' });
  await write(await files.createFolder(), 'half');
  expect(await provide()).toMatchObject({ source: 'setup' });
  await database.pool.query('delete from environment_layers');
  expect(await layers.claim({ ...ref, leaseMs: 0, failureMs: 0 })).toMatchObject({ state: 'claimed' });
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
  const layers: typeof store = { ...store, renew: async (...claim) => isSuspended || store.renew(...claim) };
  const layerBounds = { maxLayers: 2, maxBytes: 1e9 };
  const suspended = provideLayer(
    { layers, layerFiles: machine('i'), layerBounds },
    { ref, signal, build, failureOf, rememberMs: 0 },
  );
  await begun.promise;
  expect(await layersOf(machine('j'), ref).provide()).toMatchObject({ source: 'setup' });
  isSuspended = false;
  resumed.resolve();
  expect(await suspended).toMatchObject({ source: 'database' });
  expect(setup).not.toHaveBeenCalled();
  const notices = `select data ->> 'text' as text from job_events where job_id = $1 and type = 'notice'`;
  expect((await database.pool.query(notices, [jobId])).rows).toEqual([]);
  // one that holds its layer says so, and holds it for longer
  const { id } = (await store.claim({ ...ref, key: 'two', leaseMs: 60_000, failureMs: 0 })) as { id: string };
  expect(await store.start(id, 0, { jobId, turn: 1, text: 'started' })).toBe(true);
  expect((await database.pool.query(notices, [jobId])).rows).toEqual([{ text: 'started' }]);
  expect(await store.claim({ ...ref, key: 'two', leaseMs: 1_000, failureMs: 0 })).toMatchObject({ state: 'claimed' });
});

it('fails at once for all that wait for a build that fails, and is built again for those that come later', async () => {
  const ref = { projectId: (await buildProject(database.pool)).id, key: 'one' };
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const failing = layersOf(machine('k'), ref);
  failing.build.mockImplementation(async () => {
    begun.resolve();
    await end.promise;
    throw new Error('exit code 3');
  });
  const first = failing.provide();
  await begun.promise;
  const waiting = [layersOf(machine('k'), ref), layersOf(machine('l'), ref)];
  const claimed = Promise.withResolvers<void>();
  const { claim } = waiting[1]!.layers;
  waiting[1]!.layers.claim = async (wanted) => claim(wanted).finally(claimed.resolve);
  const others = waiting.map(({ provide }) => provide());
  await claimed.promise;
  end.resolve();
  await expect(first).rejects.toThrow('exit code 3');
  // one that comes now is at work before the others have looked again
  const next = await failing.layers.claim({ ...ref, leaseMs: 10_000, failureMs: 0 });
  expect(next).toMatchObject({ state: 'claimed' });
  for (const other of await Promise.all(others))
    expect(other).toMatchObject({ source: 'failure', failure: 'It failed.' });
  expect(waiting.map(({ build }) => build.mock.calls.length)).toEqual([0, 0]);
  // a builder that gives up leaves nothing
  await failing.layers.release((next as { id: string }).id, null);
  expect(await layersOf(machine('l'), ref).provide()).toMatchObject({ source: 'setup' });
});

it('is not built for a while after a failure, if the caller says so', async () => {
  const ref = { projectId: (await buildProject(database.pool)).id, key: 'one' };
  const { build, provide } = layersOf(machine('m'), ref);
  build.mockRejectedValueOnce(new Error('exit code 3')).mockRejectedValueOnce(new Error('The disk is gone.'));
  await expect(provide()).rejects.toThrow('exit code 3');
  expect(await provide(60_000)).toMatchObject({ source: 'failure', failure: 'It failed.' });
  await database.pool.query(`update environment_layers set failed_at = failed_at - interval '59 seconds'`);
  expect(await provide(60_000)).toMatchObject({ source: 'failure' });
  await database.pool.query(`update environment_layers set failed_at = failed_at - interval '1 seconds'`);
  await expect(provide(60_000)).rejects.toThrow('The disk is gone.');
  // that was no failure of the build
  expect(await provide(60_000)).toMatchObject({ source: 'setup' });
});

it('is built again at once after a failure when a secret of its project was corrected', async () => {
  const project = await buildProject(database.pool);
  const secrets = createSetupSecretStore(database.pool, createSecretBox([]));
  const set = (value: string) => secrets.set(operatorOf(project), project.id, { name: 'TOKEN', value });
  await set('wrong');
  const { build, provide } = layersOf(machine('n'), { projectId: project.id, key: 'one' });
  build.mockRejectedValueOnce(new Error('exit code 3'));
  await expect(provide()).rejects.toThrow('exit code 3');
  expect(await provide(60_000)).toMatchObject({ source: 'failure' });
  await set('right');
  expect(await provide(60_000)).toMatchObject({ source: 'setup' });
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
  const folder = await machine('h').createFolder();
  const before = 8 * 2 ** 20 - 3;
  await writeFile(join(folder, 'layer.tar'), `${'x'.repeat(before)}a-secret-value${'x'.repeat(100)}`);
  const secrets = { OTHER: 'not-in-there', TOKEN: 'a-secret-value' };
  expect(await inspectArchive(folder, { secrets, signal })).toMatchObject({ secret: 'TOKEN' });
  expect(await inspectArchive(folder, { secrets: { OTHER: 'not-in-there' }, signal })).toMatchObject({ secret: null });
});

it.each(['', 'u:', 'user:'])('finds a secret that a login stored in base64 after "%s"', async (before) => {
  const folder = await machine('h').createFolder();
  const auth = Buffer.from(`${before}a-secret-value\n`).toString('base64');
  await writeFile(join(folder, 'layer.tar'), `{"auths": {"registry.test": {"auth": "${auth}"}}}`);
  expect(await inspectArchive(folder, { secrets: { TOKEN: 'a-secret-value' }, signal })).toMatchObject({
    secret: 'TOKEN',
  });
  expect(await inspectArchive(folder, { secrets: { OTHER: 'not-in-there' }, signal })).toMatchObject({ secret: null });
});
