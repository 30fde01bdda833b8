import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, inject, it } from 'vitest';
import { migrate } from '../../../db/migrate.ts';
import { createPool, withTransaction } from '../../../db/pool.ts';
import { isStoreDown } from '../../../db/store-down.ts';
import { createTestDatabase } from '../../support/database.ts';

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

it('says in one sentence why it could not migrate, and never the password', async () => {
  const unset = await runMain(undefined);
  expect(unset).toMatchObject({ code: 1, stderr: expect.stringMatching(/^DATABASE_URL is not set[^\n]*\n$/) });
  const down = await runMain('postgres://docket:hunter2@127.0.0.1:1/docket');
  expect(down).toMatchObject({ code: 1, stderr: expect.stringMatching(/^The database cannot be reached[^\n]*\n$/) });
  expect(down.stderr).not.toContain('hunter2');
  await withEmptyDatabase(async (url) => {
    expect(await runMain(url)).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('0001-jobs') });
  });
});

it('survives connections that the server ends, idle or in a transaction, and names them as the store being down', async () => {
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
