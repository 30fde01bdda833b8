import { beforeAll, expect, it } from 'vitest';
import { createErasure } from '../../../../db/organizations/erasure.ts';
import { createPool } from '../../../../db/pool.ts';
import { removeSite } from '../../../../db/sites/remove-site.ts';
import { buildProject, buildSite } from '../../../support/database/build.ts';
import { recordStatements } from '../../../support/database/record-statements.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import {
  ofNobody,
  insertForeignRows,
  readSchema,
  rowsWith,
  type Schema,
} from '../../../support/database/foreign-rows.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
let schema: Schema;
let other: Record<string, string[]>;
beforeAll(async () => {
  schema = await readSchema(database.pool);
  await insertForeignRows(database.pool, schema, 'otherword');
  other = await rowsWith(database.pool, schema, 'otherword');
});

const caller = (organizationId: string) => ({ organizationId, keyId: 'key_who', sessionId: null });

const deletions = async (subject: string) =>
  (await database.pool.query(`select from audit_entries where action like '%.delete' and subject = $1`, [subject]))
    .rowCount;

it('every table has a row before the deletion, so a new table is covered, too', () => {
  expect(Object.keys(other).sort()).toEqual(schema.tables.filter((table) => !ofNobody.includes(table)).sort());
});

it('deleting a job leaves only its audit log and the cancellation of its execution', async () => {
  const organizationId = await insertForeignRows(database.pool, schema, 'jobword');
  await database.pool.query(`delete from job_cancels where job_id = 'jobword jobs.id'`);
  await database.pool.query(`update jobs set status = 'active' where id = 'jobword jobs.id'`);
  const erasure = createErasure(database.pool);
  expect(await erasure.job(caller('otherword organizations.id'), 'jobword jobs.id')).toBe(false);
  expect(await erasure.job(caller(organizationId), 'jobword jobs.id')).toBe(true);
  const left = Object.keys(await rowsWith(database.pool, schema, 'jobword'));
  expect(left.filter((table) => schema.below('jobs').has(table))).toEqual([]);
  expect(left).not.toContain('pull_requests');
  expect(Object.keys(await rowsWith(database.pool, schema, 'jobword jobs.id'))).toEqual([
    'audit_entries',
    'job_cancels',
  ]);
  expect(await rowsWith(database.pool, schema, 'otherword')).toEqual(other);
});

it('deleting a project leaves nothing of it and its jobs', async () => {
  const organizationId = await insertForeignRows(database.pool, schema, 'projectword');
  expect(await createErasure(database.pool).project(caller(organizationId), 'projectword projects.id')).toBe(true);
  const left = Object.keys(await rowsWith(database.pool, schema, 'projectword'));
  expect(left.filter((table) => schema.below('projects').has(table))).toEqual([]);
  expect(left).not.toContain('pull_requests');
  expect(await rowsWith(database.pool, schema, 'otherword')).toEqual(other);
});

it('deleting an organization leaves only the audit entry for it', async () => {
  const organizationId = await insertForeignRows(database.pool, schema, 'goneword');
  const erasure = createErasure(database.pool);
  expect(await erasure.organization(caller(organizationId))).toBe(true);
  const {
    audit_entries: entries = [],
    job_cancels: cancels = [],
    ...left
  } = await rowsWith(database.pool, schema, 'goneword');
  expect(left).toEqual({});
  expect(entries.map((row) => JSON.parse(row))).toMatchObject([
    { action: 'organization.delete', subject: organizationId, organization_id: organizationId, key_id: 'key_who' },
  ]);
  expect(cancels).toHaveLength(1);
  expect(await rowsWith(database.pool, schema, 'otherword')).toEqual(other);
  expect(await erasure.organization(caller(organizationId))).toBe(false);
});

it('the jobs of a project are deleted in short transactions', async () => {
  const pool = createPool({ url: database.url, maxConnections: 1, applicationName: 'recorded' });
  await using _pool = { [Symbol.asyncDispose]: () => pool.end() };
  const statements = recordStatements(pool);
  const { id, organizationId } = await buildProject(database.pool);
  await database.pool.query(
    `insert into jobs (id, project_id, organization_id, status, repository, model, title, branch)
     select 'job_batch' || number, $1, $2, 'active', 'https://github.com/acme/docs', 'offline/editor', '', '' from generate_series(1, 250) as number`,
    [id, organizationId],
  );
  expect(await createErasure(pool).project(caller('otherword organizations.id'), id)).toBe(false);
  expect((await database.pool.query('select from jobs where project_id = $1', [id])).rowCount).toBe(250);
  statements.take();
  expect(await createErasure(pool).project(caller(organizationId), id)).toBe(true);
  const texts = statements.take().filter((text) => /^(?:commit|delete from (?:jobs|projects))/i.test(text));
  const batch = ['delete from jobs where id = any($1::text[])', 'commit'];
  expect(texts).toEqual([...batch, ...batch, 'delete from projects where id = $1', 'commit']);
  const { rows } = await database.pool.query(`select count(*)::int from job_cancels where job_id like 'job\\_batch%'`);
  expect(rows).toEqual([{ count: 250 }]);
  expect(await deletions(id)).toBe(1);
});

it('the conversations of a site are deleted in short transactions', async () => {
  const { pool } = database;
  const site = await buildSite(pool);
  await pool.query(
    `insert into threads (id, site_id, organization_id, fp)
     select 'thr_batch' || number, $1, $2, 'reader' from generate_series(1, 1001) as number`,
    [site.id, site.organizationId],
  );
  expect(await removeSite(pool, caller('otherword organizations.id'), site.id)).toBe(false);
  expect((await pool.query('select from threads where site_id = $1', [site.id])).rowCount).toBe(1_001);
  expect(await removeSite(pool, caller(site.organizationId), site.id)).toBe(true);
  expect((await pool.query(`select from threads where id like 'thr\\_batch%'`)).rowCount).toBe(0);
  expect(await deletions(site.domain)).toBe(1);
});

it('every foreign key to deletable rows cascades or is set to null, so nothing is left over', () => {
  const held = schema.references.filter(({ onDelete }) => onDelete !== 'c');
  expect(held.map(({ child, parent, onDelete }) => `${child} → ${parent}: ${onDelete}`).sort()).toEqual([
    'evaluations → question_sets: n',
    'gaps → jobs: n',
    'jobs → jobs: n',
    // identical blocks are shared
    'site_index_layout → site_index_blocks: a',
    'sites → question_sets: n',
  ]);
});
