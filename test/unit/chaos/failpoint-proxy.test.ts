import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { expect, it } from 'vitest';
import { createKnownSecrets } from '../../../lib/redaction/known-secrets.ts';
import { createApiStores } from '../../../api/stores.ts';
import { createSecretBox } from '../../../lib/encryption/secret-box.ts';
import { createWorkerStores } from '../../../worker/stores.ts';
import { readConfig } from '../../../worker/config/config.ts';
import { createClients } from '../../../worker/clients.ts';
import { createJobActivities, createIndexActivities } from '../../../worker/activities.ts';
import { createFailpointFile, type Failpoint } from '../../suites/chaos/failpoint-file.ts';
import { createFailpoints, immediate } from '../../suites/chaos/servers/failpoint-proxy.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const pool = { query: () => Promise.resolve({ rows: [], rowCount: 1 }) } as unknown as Pool;

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = temporaryDirectory();
  await work(folder);
}

async function placesIn(folder: string): Promise<string[]> {
  return (await readFile(join(folder, 'names.txt'), 'utf8')).split('\n').filter(Boolean);
}

function arm(folder: string, point: Omit<Failpoint, 'id'>): Promise<void> {
  return writeFile(join(folder, 'armed.json'), JSON.stringify({ id: '1', ...point }));
}

it('covers every function of every store and every activity', () =>
  withFolder(async (folder) => {
    const config = readConfig({ DATABASE_URL: 'postgres://docket@127.0.0.1:1/docket', DOCKET_WORK_DIR: folder });
    const instrument = createFailpoints('worker', createFailpointFile(folder));
    const stores = createWorkerStores({ pool, box: createSecretBox([]) });
    const clients = createClients({ config, pullRequests: stores.pullRequests, instrument });
    const secrets = createKnownSecrets([]);
    const wiring = { config, stores: instrument('stores', stores), clients, secrets, commands: null, instrument };
    const activities = { ...createJobActivities(wiring), ...createIndexActivities(wiring) };
    const apiStores = createApiStores({
      pool,
      config: { keyPepper: 'pepper', encryptionKeys: [], operatorOrganizations: [] },
    });
    createFailpoints('api', createFailpointFile(folder))('stores', apiStores);

    const places = new Set(await placesIn(folder));
    for (const [owner, all] of Object.entries({ worker: stores, api: apiStores })) {
      for (const [name, store] of Object.entries(all)) {
        const functions = Object.keys(store)
          .filter((key) => !immediate.has(key))
          .map((key) => `${owner}/${name}.${key}`);
        expect(functions.length).toBeGreaterThan(0);
        expect(functions.filter((place) => !places.has(place))).toEqual([]);
      }
    }
    const names = Object.keys(activities).map((name) => `worker/activities.${name}`);
    expect(names.length).toBeGreaterThan(8);
    expect(names.filter((place) => !places.has(place))).toEqual([]);
  }));

it('drops the connection before or after the work, at the given pass, once', () =>
  withFolder(async (folder) => {
    let done = 0;
    const parts = { jobs: { finish: async () => (done += 1) } };
    const { jobs } = createFailpoints('worker', createFailpointFile(folder))('stores', parts);
    const name = 'worker/jobs.finish';

    await arm(folder, { name, edge: 'before', hit: 2, action: 'lose' });
    expect(await jobs.finish()).toBe(1);
    await expect(jobs.finish()).rejects.toThrow('Connection terminated unexpectedly');
    expect(await jobs.finish()).toBe(2);

    await arm(folder, { name, edge: 'after', hit: 1, action: 'lose' });
    await expect(jobs.finish()).rejects.toThrow('Connection terminated unexpectedly');
    expect(done).toBe(3);
  }));

it('distinguishes the commands of git', () =>
  withFolder(async (folder) => {
    const git = { run: async ({ args }: { args: string[] }) => args.length };
    const failing = createFailpoints('worker', createFailpointFile(folder))('git', git);
    await arm(folder, { name: 'worker/git.push', edge: 'before', hit: 1, action: 'lose' });
    expect(await failing.run({ args: ['-c', 'a=b', 'fetch', 'origin'] })).toBe(4);
    await expect(failing.run({ args: ['-c', 'a=b', 'push', 'origin'] })).rejects.toThrow(/did not respond to git/);
  }));
