import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runner } from 'node-pg-migrate';
import { Client } from 'pg';
import { expect, inject, it } from 'vitest';
import { createWorkerJobStore } from '../../../db/for-worker/jobs.ts';
import { createWorkerPullRequestStore } from '../../../db/for-worker/pull-requests.ts';
import { migrate } from '../../../db/migrate.ts';
import { fillIn } from '../../../db/migrations/0096-earlier-pull-requests.ts';
import { createPool, withTransaction } from '../../../db/pool.ts';
import { isStoreDown } from '../../../db/store-down.ts';
import { parseGrant } from '../../../lib/inputs/grants.ts';
import { buildJob, buildOrganization, buildProject, buildSite } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';

async function withEmptyDatabase(work: (url: string) => Promise<void>): Promise<void> {
  const server = new Client({ connectionString: inject('databaseUrl') });
  await server.connect();
  const name = `empty_${randomBytes(8).toString('hex')}`;
  try {
    await server.query(`create database ${name}`);
    const address = new URL(inject('databaseUrl'));
    address.pathname = `/${name}`;
    await work(address.href);
  } finally {
    await server.query(`drop database if exists ${name} with (force)`);
    await server.end();
  }
}

it('migrates once when several processes start together', async () => {
  await withEmptyDatabase(async (url) => {
    const applied = await Promise.all([migrate(url), migrate(url), migrate(url)]);
    expect(applied.filter((names) => names.length > 0)).toHaveLength(1);
    expect(applied.flat()).toEqual(applied.flat().sort());
    expect(await migrate(url)).toEqual([]);
  });
});

/** Opens a connection that ends with the scope. */
async function connectTo(connectionString: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

it('lets writers pass while a long transaction keeps a migration from its lock', { tags: ['slow'] }, async () => {
  await withEmptyDatabase(async (url) => {
    const dir = join(import.meta.dirname, '../../../db/migrations');
    const names = (await readdir(dir)).map((name) => name.replace(/\.\w+$/, '')).toSorted();
    const newest = names.slice(names.indexOf('0095-pull-requests-of-jobs'));
    await using earlier = await connectTo(url);
    const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
    await runner({
      dbClient: earlier,
      dir,
      migrationsTable: 'schema_migrations',
      direction: 'up',
      count: names.length - newest.length,
      noLock: true,
      logger: quiet,
    });
    await using backup = await connectTo(url);
    await backup.query('begin; lock table jobs in row exclusive mode');
    const waits: string[] = [];
    const waiting = Promise.withResolvers<void>();
    const migrating = migrate(url, {
      onWait(sentence) {
        waits.push(sentence);
        waiting.resolve();
      },
    });
    await waiting.promise;
    await using writer = await connectTo(url);
    await writer.query('update jobs set title = title where false');
    await backup.query('commit');
    expect(await migrating).toEqual(newest);
    expect(waits).toEqual([expect.stringMatching(/^A migration waits for a table/)]);
  });
});

function runMain(databaseUrl: string | undefined): Promise<{ code: number; stdout: string; stderr: string }> {
  const { DATABASE_URL: _, ...rest } = process.env;
  const env = databaseUrl === undefined ? rest : { ...rest, DATABASE_URL: databaseUrl };
  return new Promise((resolve) => {
    const file = join(import.meta.dirname, '../../../db/migrate-main.ts');
    const child = execFile(process.execPath, [file], { env }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

it('reports in one sentence why it could not migrate, without the password', { tags: ['slow'] }, async () => {
  const unset = await runMain(undefined);
  expect(unset).toMatchObject({ code: 1, stderr: expect.stringMatching(/^DATABASE_URL is missing; [^\n]*\n$/) });
  const misnamed = await runMain('mysql://docket:hunter2@127.0.0.1/docket');
  expect(misnamed).toMatchObject({ code: 1, stderr: 'DATABASE_URL must be a postgres:// address.\n' });
  const down = await runMain('postgres://docket:hunter2@127.0.0.1:1/docket');
  expect(down).toMatchObject({ code: 1, stderr: expect.stringMatching(/^The database cannot be reached[^\n]*\n$/) });
  expect(down.stderr).not.toContain('hunter2');
  await withEmptyDatabase(async (url) => {
    expect(await runMain(url)).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('0001-jobs') });
  });
});

it('survives connections that the server ends, idle or in a transaction, and reports the store as down', async () => {
  await using database = await createTestDatabase();
  const lost = Promise.withResolvers<Error>();
  const pool = createPool({
    url: database.url,
    maxConnections: 2,
    applicationName: 'victim',
    onConnectionLost: lost.resolve,
  });
  const endAll = () =>
    database.pool.query(
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity where application_name = 'victim'`,
    );
  try {
    await pool.query('select 1');
    await endAll();
    expect(isStoreDown(await lost.promise)).toBe(true);
    const failure: unknown = await withTransaction(pool, async (client) => {
      await client.query('select 1');
      await endAll();
      await client.query('select 1');
    }).catch((error: unknown) => error);
    expect(isStoreDown(failure)).toBe(true);
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  } finally {
    await pool.end();
  }
});

it('rolls a transaction back when its work throws, and keeps the connection', async () => {
  await using database = await createTestDatabase();
  const pool = createPool({ url: database.url, maxConnections: 1, applicationName: 'test' });
  try {
    const insert = `insert into organizations (id, name) values ('org_1', 'x')`;
    await expect(
      withTransaction(pool, async (client) => {
        await client.query(insert);
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    await withTransaction(pool, (client) => client.query(insert));
    expect((await pool.query('select id from organizations')).rows).toEqual([{ id: 'org_1' }]);
    expect(pool.totalCount).toBe(1);
  } finally {
    await pool.end();
  }
});

it('gives an organization grants for exactly what its projects and sites use', async () => {
  await using database = await createTestDatabase();
  const { pool } = database;
  const [{ id: a }, { id: b }] = [await buildOrganization(pool), await buildOrganization(pool)];
  await buildProject(pool, { organizationId: a, repository: 'https://github.com/Acme/Docs' });
  const more = ['/srv/git/more.git', '/srv/git/*', 'https://github.com/acme/more'];
  const allowed = { repository: '/srv/git/Lamp.git', forge: 'local' as const, allowedRepositories: more };
  await buildProject(pool, { organizationId: a, ...allowed });
  const own = await buildProject(pool, { organizationId: b, repository: 'https://github.com/acme/own' });
  await pool.query(`update projects set credential = 'sealed' where id = $1`, [own.id]);
  for (const repository of ['ssh://git@ssh.github.com/acme/ssh', 'ssh://git@git.test:2222/acme/ssh'])
    await buildProject(pool, { organizationId: b, repository });
  const forgeUrl = 'http://git.test:3000/forge/';
  await buildProject(pool, { organizationId: b, repository: 'ssh://git@git.test/acme/served', forgeUrl });
  for (const repository of ['https://github.com/acme/own', 'https://github.com/acme/site'])
    await buildSite(pool, { organizationId: b, repository });
  for (const directory of ['/srv/docs/', '/'])
    await buildSite(pool, { organizationId: b, repository: undefined, directory });
  await pool.query('drop table grants');
  const file = join(import.meta.dirname, '../../../db/migrations/0028-grants.sql');
  await pool.query(await readFile(file, 'utf8'));
  const { rows } = await pool.query('select organization_id, resource from grants order by resource');
  const of = (id: string) => rows.filter(({ organization_id: owner }) => owner === id).map(({ resource }) => resource);
  expect(of(a)).toEqual([
    '/srv/git/Lamp.git',
    '/srv/git/more.git',
    'https://github.com/acme/docs',
    'https://github.com/acme/more',
  ]);
  expect(of(b)).toEqual([
    '/srv/docs',
    'http://git.test:3000/forge/acme/served',
    'https://git.test/acme/ssh',
    'https://github.com/acme/site',
    'https://github.com/acme/ssh',
  ]);
  for (const { resource } of rows) expect(parseGrant(resource)).toEqual({ ok: true, resource });
});

it('finds the job, the turn and the last push of pull requests that are older than their columns', async () => {
  await using database = await createTestDatabase();
  const { pool } = database;
  const project = await buildProject(pool);
  const worked = createWorkerJobStore(pool);
  const local = createWorkerPullRequestStore(pool);
  /** Publishes each turn, with a further pull request where one is named. */
  async function publish(isLocal: boolean, names: (string | null)[]): Promise<void> {
    const { id: jobId } = await buildJob(pool, project, { baseBranch: 'main' });
    let opened = { branch: '', prId: '', prLink: '' };
    for (const [index, name] of names.entries()) {
      const turn = index + 1;
      if (turn > 1) {
        await pool.query('insert into job_turns (job_id, turn, prompt) values ($1, $2, $3)', [jobId, turn, 'More']);
        await pool.query('update jobs set turn = $2 where id = $1', [jobId, turn]);
      }
      if (name !== null) {
        const branch = `docket/${turn === 1 ? jobId : `${jobId}-${turn}`}-${name}`;
        const prText = { title: name, body: '' };
        const { repository } = project;
        const prId = isLocal
          ? (await local.create({ repository, head: branch, base: 'main', draft: false, ...prText })).id
          : `${turn + 40}`;
        opened = { branch, prId, prLink: `https://forge.test/pulls/${prId}` };
      }
      const pushed = { commit: `commit ${turn}`, tree: `tree ${turn}` };
      await pool.query(`insert into job_effects (job_id, turn, effect, result) values ($1, $2, 'push', $3)`, [
        jobId,
        turn,
        pushed,
      ]);
      const published = { ...opened, headCommit: pushed.commit, headTree: pushed.tree, check: null };
      const state = { prState: 'open', prDraft: false, prText: { title: 'x', body: '' } } as const;
      expect(await worked.setPublished({ jobId, turn, ...published, ...state })).toBe(true);
    }
  }
  await publish(true, ['first', null, '2-more', null]);
  await publish(false, ['first', '2-more']);
  await publish(true, ['only']);
  const read = async () => {
    const { rows } = await pool.query(
      `select id, organization_id, opened_by, opened_in, head_commit, head_tree, link from pull_requests order by number, id`,
    );
    return rows;
  };
  const written = await read();
  expect(written.map((row) => [row.opened_in, row.head_commit, row.head_tree]).toSorted()).toEqual([
    [1, 'commit 1', 'tree 1'],
    [1, 'commit 1', 'tree 1'],
    [1, 'commit 2', 'tree 2'],
    [2, 'commit 2', 'tree 2'],
    [3, 'commit 4', 'tree 4'],
  ]);
  await pool.query(
    'update pull_requests set organization_id = null, opened_by = null, opened_in = null, head_commit = null, head_tree = null, link = null',
  );
  await pool.query(fillIn);
  expect(await read()).toEqual(written);
});

it('reports the store as down when it refuses a connection, whatever the reason', async () => {
  const url = new URL('/missing', inject('databaseUrl')).href;
  const pool = createPool({ url, maxConnections: 1, applicationName: 'refused', holderOf: () => 'org' });
  try {
    for (const attempt of [pool.query('select 1'), withTransaction(pool, async () => 1)]) {
      const failure: unknown = await attempt.catch((error: unknown) => error);
      expect(isStoreDown(failure)).toBe(true);
      expect(failure).toMatchObject({ cause: { message: 'database "missing" does not exist' } });
    }
  } finally {
    await pool.end();
  }
});
